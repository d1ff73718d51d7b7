package operatorcases

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// refused is the value of a part for which a side returns an error.
const refused = "(refused)"

// compareConfigureText compares the text of the configure command.
func compareConfigureText(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.DatabaseConfiguration `json:"self"`
	}
	var out struct {
		R0 string `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	text := refused
	if tokens, err := objects.ConfigurationFromResource(in.Self).Tokens(); err == nil {
		text = strings.Join(tokens, " ")
	}
	recorded, err := sameRegionsText(strings.ReplaceAll(out.R0, `\"`, `"`))
	if err != nil {
		return nil, nil, err
	}
	return opcases.Outcome{"text": recorded}, opcases.Outcome{"text": text}, nil
}

// sameRegionsText writes the regions of a configure text as this program does: the operator
// leaves a priority of 0 out, which FoundationDB reads as 0.
func sameRegionsText(text string) (string, error) {
	before, list, found := strings.Cut(text, "regions=[")
	list, after, closed := strings.Cut("["+list, "] ")
	if !found {
		return text, nil
	}
	if closed {
		list, after = list+"]", " "+after
	}
	var regions []fdb.Region
	if err := json.Unmarshal([]byte(list), &regions); err != nil {
		return "", err
	}
	if regions == nil {
		return before + "regions=[]" + after, nil
	}
	return before + "regions=" + opcases.JSON(regions) + after, nil
}

// compareNextConfiguration compares the next step of a change of regions, and where the
// chain of all steps ends.
func compareNextConfiguration(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Final v1beta2.DatabaseConfiguration `json:"finalConfiguration"`
		Self  v1beta2.DatabaseConfiguration `json:"self"`
	}
	var out struct {
		R0 v1beta2.DatabaseConfiguration `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	have, want := objects.ConfigurationFromResource(in.Self), objects.ConfigurationFromResource(in.Final)
	operator = opcases.Outcome{"next": regionsOf(objects.ConfigurationFromResource(out.R0)), "end": regionsOf(want)}
	steps, err := have.RegionSteps(want, home(have, want))
	switch {
	case err != nil:
		ours = opcases.Outcome{"next": refused, "end": refused}
	case len(steps) == 0:
		ours = opcases.Outcome{"next": regionsOf(want), "end": regionsOf(want)}
	default:
		ours = opcases.Outcome{"next": regionsOf(steps[0].Configuration), "end": regionsOf(steps[len(steps)-1].Configuration)}
	}
	return operator, ours, nil
}

// home is the data center that serves: the one with the highest priority, by the regions in
// force, or by the desired ones where the database has none yet.
func home(have, want fdb.Configuration) string {
	for _, regions := range [][]fdb.Region{have.Regions, want.Regions} {
		serving, highest := "", 0
		for _, r := range regions {
			if dc, ok := r.Main(); ok && (serving == "" || dc.Priority > highest) {
				serving, highest = dc.ID, dc.Priority
			}
		}
		if serving != "" {
			return serving
		}
	}
	return ""
}

// regionsOf shows the regions of a configuration, in one order.
func regionsOf(c fdb.Configuration) string {
	c = c.Normalized(c, fdb.Version{})
	return "usable_regions=" + strconv.Itoa(max(c.UsableRegions, 1)) + " " + opcases.JSON(c.Regions)
}

// compareReconciliation compares what a cluster waits for before its generation counts as
// reconciled.
func compareReconciliation(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.FoundationDBCluster `json:"self"`
	}
	var out struct {
		R0    bool                        `json:"r0"`
		After v1beta2.FoundationDBCluster `json:"after_self"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	gaps := in.Self.ReconciliationGaps(objects.DesiredResourceConfiguration(&in.Self))
	after := in.Self.DeepCopy()
	gaps.ApplyTo(&after.Status)
	return gapsOutcome(out.R0, &out.After), gapsOutcome(gaps.Reconciled(), after), nil
}

func gapsOutcome(reconciled bool, c *v1beta2.FoundationDBCluster) opcases.Outcome {
	return opcases.Outcome{
		"reconciled": strconv.FormatBool(reconciled), "generations": opcases.JSON(c.Status.Generations),
		"process groups": strconv.Itoa(c.Status.ReconciledProcessGroups) + " of " + strconv.Itoa(c.Status.DesiredProcessGroups),
	}
}

// compareValidation compares which specs are refused.
func compareValidation(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.FoundationDBCluster `json:"self"`
	}
	var out struct {
		Err opcases.Failure `json:"err"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	in.Self.Name = "sample" // the API server refuses an object without a name
	return out.Err.Verdict(), opcases.Verdict(in.Self.Validate() == nil), nil
}

// compareConnectionString compares which texts are connection strings, and what they name.
func compareConnectionString(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Text string `json:"str"`
	}
	var out struct {
		Err opcases.Failure `json:"err"`
		R0  struct {
			Name         string   `json:"databaseName"`
			ID           string   `json:"generationID"`
			Coordinators []string `json:"coordinators"`
		} `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	operator = out.Err.Verdict()
	if out.Err == "" {
		operator["parsed"] = opcases.JSON([]any{out.R0.Name, out.R0.ID, out.R0.Coordinators})
	}
	parsed, err := fdb.ParseConnectionString(in.Text)
	ours = opcases.Verdict(err == nil)
	if err == nil {
		var coordinators []string
		for _, a := range parsed.Coordinators {
			coordinators = append(coordinators, a.String())
		}
		ours["parsed"] = opcases.JSON([]any{parsed.Description, parsed.ID, coordinators})
	}
	return operator, ours, nil
}

// compareAddressesExcluded compares when all addresses of a process group count as drained.
func compareAddressesExcluded(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Now       opcases.Seconds            `json:"now"`
		Remaining map[string]bool            `json:"remainingMap"`
		Self      v1beta2.ProcessGroupStatus `json:"self"`
	}
	var out struct {
		R0 bool `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	excluded, err := in.Self.AllAddressesExcluded(in.Remaining, in.Now.Time())
	return opcases.Verdict(out.R0), opcases.Verdict(excluded && err == nil), nil
}

// compareGates compares what the operator allows for each version.
func compareGates(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		V string `json:"v"`
	}
	out := map[string]any{}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	operator = opcases.Outcome{}
	for _, part := range []string{"encryption", "ispresent", "locality", "mutation", "recovery", "redwood", "sharded", "supported", "testers", "text"} {
		operator[part] = opcases.JSON(out[part])
	}
	if failure, _ := out["err"].(string); failure != "" {
		operator = opcases.Outcome{"parsed": refused}
	}
	v, err := fdb.ParseVersion(in.V)
	if err != nil {
		return operator, opcases.Outcome{"parsed": refused}, nil //nolint:nilerr // a refusal is an outcome
	}
	return operator, opcases.Outcome{
		"encryption": opcases.JSON(v.SupportsBackupEncryption()), "ispresent": opcases.JSON(v.HasSidecarIsPresent()),
		"locality": opcases.JSON(v.SupportsLocalityExclusion()), "mutation": opcases.JSON(v.HasMutationLogType()),
		"recovery": opcases.JSON(v.HasRecoveryAge()), "redwood": opcases.JSON(v.SupportsStorageEngine(fdb.EngineRedwood)),
		"sharded": opcases.JSON(v.SupportsStorageEngine(fdb.EngineShardedRocksDB)), "supported": opcases.JSON(v.Supported()),
		"testers": opcases.JSON(v.ForgetsDeadTesters()), "text": opcases.JSON(v.String()),
	}, nil
}

// compareVersionPairs compares the order of versions, and which changes are possible.
func compareVersionPairs(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct{ A, B string }
	var out struct{ AtLeast, Change, Compatible bool }
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	a, errA := fdb.ParseVersion(in.A)
	b, errB := fdb.ParseVersion(in.B)
	if errA != nil || errB != nil {
		return nil, nil, errors.Join(errA, errB)
	}
	return pairOutcome(out.AtLeast, out.Change, out.Compatible),
		pairOutcome(a.AtLeast(b), a.CanChangeTo(b), a.ProtocolCompatible(b)), nil
}

func pairOutcome(atLeast, change, compatible bool) opcases.Outcome {
	return opcases.Outcome{
		"at least": strconv.FormatBool(atLeast), "change": strconv.FormatBool(change), "compatible": strconv.FormatBool(compatible),
	}
}
