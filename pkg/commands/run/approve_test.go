package run

import (
	"strings"
	"testing"
)

func TestTheApprovalDigestCoversTheForecastIfThereIsOne(t *testing.T) {
	for name, row := range map[string]struct {
		plan, want string
		fails      bool
	}{
		"one pass by its items":                        {`{"digest":"items"}`, "items", false},
		"all passes by their forecast":                 {`{"digest":"items","forecast":{"digest":"all","phases":[{}]}}`, "all", false},
		"a forecast without phases covers none":        {`{"digest":"items","forecast":{"digest":"none","phases":[]}}`, "items", false},
		"a plan without a digest cannot be approved":   {`{"items":[]}`, "", true},
		"a text that is no document is not approved":   {`sample: nothing to do.`, "", true},
		"two documents are not a plan to be approved":  {`{"digest":"items"}{"digest":"more"}`, "", true},
		"a forecast of another form is not understood": {`{"digest":"items","forecast":[]}`, "", true},
	} {
		got, err := planDigest([]byte(row.plan))
		if got != row.want || (err != nil) != row.fails {
			t.Errorf("%s: %q and %v, want %q", name, got, err, row.want)
		}
	}
}

func TestADryRunOfARunbookStepDropsApprovalFlags(t *testing.T) {
	for line, want := range map[string]string{
		"reconcile c --yes --wait":       "reconcile c --wait --dry-run",
		"reconcile c -y --plan p --wait": "reconcile c --wait --dry-run",
		"reconcile c --plan=p":           "reconcile c --dry-run",
		"exec c --yes -- sh --yes":       "exec c --dry-run -- sh --yes",
	} {
		if got := strings.Join(dryRunOf(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
