package format

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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
