package planned

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// What a forecast permits cannot be changed in a saved plan, not even with new digests of its fields.
func TestAPlanFileWithAnEditedForecastIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*Forecast)
		refused bool
	}{
		"as saved":               {func(*Forecast) {}, false},
		"another duration":       {func(f *Forecast) { f.Phases[0].FromSeconds = 38 }, false},
		"another process group":  {func(f *Forecast) { f.Phases[0].Groups[0] = "storage-2" }, true},
		"another kind of action": {func(f *Forecast) { f.Phases[0].Kind = "DeletePods" }, true},
		"another stage":          {func(f *Forecast) { f.Phases[0].Stage = "ChangeDenyList" }, true},
		"another command":        {func(f *Forecast) { f.Phases[0].Commands = []string{"configure single"} }, true},
		"more new groups":        {func(f *Forecast) { f.Phases[0].Classes = map[v1beta2.ProcessClass]int{"log": 9} }, true},
		"no digest":              {func(f *Forecast) { f.Digest = "" }, true},
		"one without a digest that is called unavailable": {func(f *Forecast) { f.Digest, f.Unavailable = "", &NoForecast{Code: "state"} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := Forecast{End: ForecastComplete, Phases: []ForecastPhase{{
				Stage: "ExcludeInstances", Kind: "Exclude", Groups: []v1beta2.ProcessGroupID{"storage-1"}, FromSeconds: 37,
			}}}.Sealed()
			c.edit(&f)
			v, err := PlanView{
				Document: inspect.Document{APIVersion: inspect.APIVersion, Kind: "Plan", Metadata: inspect.Metadata{Cluster: "sample"}},
				Command:  []string{"reconcile", "sample"}, Seed: "1", Observed: PlanObserved{UID: "u"}, Digest: digest(nil), Forecast: &f,
			}.Sealed()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ReadPlan(text)
			if c.refused != (err != nil) {
				t.Fatalf("refused: %v, want %t", err, c.refused)
			}
			if err == nil && p.Forecast.Phase("ExcludeInstances", "Exclude") == nil {
				t.Error("the forecast is lost")
			}
		})
	}
}
