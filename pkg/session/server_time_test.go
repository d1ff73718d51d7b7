package session

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The clock of this machine is six hours ahead of an API server whose answers are six hours old by it.
func TestSessionsUseTheTimeOfTheAPIServer(t *testing.T) {
	const ahead = 6 * time.Hour
	e := NewEnv()
	local := e.Clock.Now()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", local.Add(-ahead).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer api.Close()
	*e.Kube.APIServer = api.URL
	c, err := e.Client()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "sample"}, &corev1.Pod{}) // the Date of the 404 is what counts
	if off := e.Clock.Now().Sub(local.Add(-ahead)).Abs(); off > time.Minute {
		t.Errorf("the clock of commands is off by %s", off)
	}
	if beside := e.Beside(nil); beside.ServerTime != e.ServerTime || beside.Clock != e.Clock {
		t.Error("what runs beside a command has another clock")
	}
	o, err := e.Connection().clusterOptions(types.NamespacedName{Name: "sample"})
	if err != nil {
		t.Fatal(err)
	}
	if d := o.ClockDifference(); !d.Known || (d.Ahead-ahead).Abs() > time.Minute {
		t.Errorf("a pass sees the difference %+v, want %s", d, ahead)
	}
}

func TestReadingReportsAWrongClock(t *testing.T) {
	s := plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{}, Clock: plan.ClockFacts{Compared: true, Known: true, Ahead: -time.Hour}}
	warnings := strings.Join(Judged(inspect.Facts{}, s).Warnings, "\n")
	if !strings.Contains(warnings, "60m behind") || !strings.Contains(warnings, string(plan.GateClock)) {
		t.Errorf("the warnings are %q", warnings)
	}
}
