package fleet

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func read(state inspect.State, minutes int) Cluster {
	return Cluster{Namespace: "a", Name: "one", Status: &inspect.StatusView{State: state}, AsOf: new(at(minutes))}
}

func TestAClusterThatCannotBeReadKeepsItsLastStatus(t *testing.T) {
	l := List{}.Known([]Cluster{{Namespace: "a", Name: "one"}, {Namespace: "b", Name: "one"}}, at(0))
	l = l.Read(read(inspect.StateHealthy, 1), at(1))
	l = l.Read(Cluster{Namespace: "a", Name: "one", Unread: "forbidden"}, at(2))
	one, other := l.Clusters[0], l.Clusters[1]
	if one.Unread != "forbidden" || one.Status == nil || !one.AsOf.Equal(at(1)) || !one.Changed.Equal(at(2)) {
		t.Errorf("%+v", one)
	}
	if other.Unread != "" || other.Changed != nil {
		t.Errorf("the other cluster: %+v", other)
	}
}

func TestTheChangeTimeIsThatOfTheLastStateChange(t *testing.T) {
	l := List{}.Known([]Cluster{{Namespace: "a", Name: "one"}}, at(0))
	if l = l.Read(read(inspect.StateHealthy, 1), at(1)); l.Clusters[0].Changed != nil {
		t.Error("the first read is no change")
	}
	l = l.Read(read(inspect.StateDegraded, 2), at(2))
	l = l.Read(read(inspect.StateDegraded, 3), at(3))
	if got := l.Clusters[0].Changed; got == nil || !got.Equal(at(2)) {
		t.Errorf("changed at %v", got)
	}
}

func TestALateReadDoesNotAddADeletedClusterToTheList(t *testing.T) {
	l := List{}.Known([]Cluster{{Namespace: "a", Name: "one"}}, at(0)).Known(nil, at(1))
	if l = l.Read(read(inspect.StateHealthy, 2), at(2)); len(l.Clusters) > 0 {
		t.Errorf("%+v", l.Clusters)
	}
}

func TestFleetKeysOmitTheCurrentNamespace(t *testing.T) {
	c := Cluster{Namespace: "a", Name: "one"}
	if c.Key("a") != "one" || c.Key("") != "a/one" || c.Key("b") != "a/one" {
		t.Errorf("%s %s %s", c.Key("a"), c.Key(""), c.Key("b"))
	}
}
