package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// DeletePods deletes pods that a later stage recreates. Their PVCs and their process groups
// remain.
type DeletePods struct {
	Pods []PodOfGroup `json:"pods"`
	// Shared is true when no other control-plane instance may stop processes at the same time,
	// so that the lock is needed.
	Shared bool `json:"shared,omitempty"`
	// Evict is true when the eviction API deletes them, which respects disruption budgets.
	Evict bool `json:"evict,omitempty"`
}

// PodOfGroup is one pod by its UID, not another one of the same name.
type PodOfGroup struct {
	Group v1beta2.ProcessGroupID `json:"group"`
	Name  string                 `json:"name"`
	UID   types.UID              `json:"-"`
}

// Describe implements Action.
func (a DeletePods) Describe() string {
	names := make([]string, len(a.Pods))
	for i, pod := range a.Pods {
		names[i] = pod.Name
	}
	if a.Evict {
		return fmt.Sprintf("evict pods: %s", strings.Join(names, ", "))
	}
	return fmt.Sprintf("recreate pods: %s", strings.Join(names, ", "))
}

// Subject implements Action.
func (a DeletePods) Subject() string { return phrase.List(GroupsOf(a)) }

func (a DeletePods) effect() Effect {
	e := Effect{Stale: Pods | PodFiles | Database, Impact: ProcessRestart}
	if a.Shared {
		e.Locked, e.Cooldown = true, fdb.DeathNoticedAfter
	}
	return e
}

// SetSidecarImage sets the image of one container of a running pod. The kubelet restarts only
// that container; the fdbserver processes continue.
type SetSidecarImage struct {
	PodOfGroup

	Container string `json:"container"`
	Image     string `json:"image"`
}

// Describe implements Action.
func (a SetSidecarImage) Describe() string {
	return fmt.Sprintf("set the image of container %s of pod %s to %s", a.Container, a.Name, a.Image)
}

// Subject implements Action.
func (a SetSidecarImage) Subject() string { return string(a.Group) }

func (SetSidecarImage) effect() Effect {
	return Effect{Stale: Pods | PodFiles, Parallel: true, Impact: NoImpact}
}

// DeleteService deletes a service that is no longer needed.
type DeleteService struct {
	Name string    `json:"name"`
	UID  types.UID `json:"-"`
}

// Describe implements Action.
func (a DeleteService) Describe() string { return "delete service " + a.Name }

// Subject implements Action.
func (a DeleteService) Subject() string { return "service/" + a.Name }

func (DeleteService) effect() Effect { return Effect{Stale: Services, Impact: NoImpact} }
