package format

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
)

func TestValuesAreSortedByWhatTheyMeanAndAbsentOnesAreLast(t *testing.T) {
	for name, tc := range map[string]struct{ given, want []any }{
		"numbers by size":                 {given: []any{int64(10), 9.5, int64(-1)}, want: []any{int64(-1), 9.5, int64(10)}},
		"times across time zones":         {given: []any{"2026-01-01T10:00:00Z", "2026-01-01T10:00:00+01:00"}, want: []any{"2026-01-01T10:00:00+01:00", "2026-01-01T10:00:00Z"}},
		"times with and without fraction": {given: []any{"2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00Z"}, want: []any{"2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5Z"}},
		"names by their numbers":          {given: []any{"storage-10", "log-1", "storage-9"}, want: []any{"log-1", "storage-9", "storage-10"}},
		"no before yes":                   {given: []any{true, false}, want: []any{false, true}},
		"absent values last":              {given: []any{nil, "b", nil, "a"}, want: []any{"a", "b", nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.Clone(tc.given)
			slices.SortStableFunc(got, compareValues)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownLabelsAreNotMissingOnes(t *testing.T) {
	v := inspect.NodeListView{Items: []inspect.NodeView{{Name: "read", Labels: map[string]string{"team": "a", "app": "b"}}, {Name: "bare", Labels: map[string]string{}}, {Name: "hidden"}}}
	for name, tc := range map[string]struct {
		of   labels
		want []string
	}{
		"one label":  {labels{keys: []string{"example.com/team"}}, []string{"-", "-", "?"}},
		"its value":  {labels{keys: []string{"team"}}, []string{"a", "-", "?"}},
		"all labels": {labels{all: true}, []string{"app=b,team=a", "-", "?"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i := range v.Items {
				got = append(got, tc.of.columns(v)[0].Cell(list.At{}, i).Text)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, not %q", got, tc.want)
			}
		})
	}
}
