package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// LeastMemory is what each fdbserver process must be allowed to use: the limit of a pod template that sets none.
// FoundationDB itself asks for 4 GiB per process.
// Source: the operator's default resources; apple.github.io/foundationdb/configuration.html#system-requirements.
var LeastMemory = resource.MustParse("1Gi")

// LittleMemory is a class whose containers are ended by the kernel before fdbserver keeps to a limit of its own.
type LittleMemory struct {
	Class v1beta2.ProcessClass
	// Limit is the memory limit of the main container, which Servers processes share.
	Limit   resource.Quantity
	Servers int
	// Own is the limit that a custom parameter gives each process, where that alone is too much; nil otherwise.
	Own *resource.Quantity
}

// Text returns the limit and what it is compared with.
func (l LittleMemory) Text() string {
	text := fmt.Sprintf("the memory limit of container %s is %s for %s", v1beta2.ContainerMain, l.Limit.String(), phrase.Count(l.Servers, "fdbserver process"))
	if l.Own != nil {
		return fmt.Sprintf("%s, and customParameters let each use %s: the kernel ends them before they keep to that", text, l.Own.String())
	}
	return fmt.Sprintf("%s, %s each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)", text, LeastMemory.String())
}

// TooLittleMemory returns the classes whose memory limit, visible in the spec alone, does not fit their processes. The
// cluster must be normalized.
func TooLittleMemory(c *v1beta2.FoundationDBCluster) []LittleMemory {
	var all []LittleMemory
	for _, class := range slices.Sorted(maps.Keys(c.DesiredProcessCounts())) {
		template := c.Settings(class).PodTemplate
		if template == nil {
			continue
		}
		main := container(template.Spec.Containers, v1beta2.ContainerMain)
		if main == nil {
			continue
		}
		limit, limited := main.Resources.Limits[corev1.ResourceMemory]
		if l := (LittleMemory{Class: class, Limit: limit, Servers: c.ServersPerPod(class)}); limited && l.judge(c) {
			all = append(all, l)
		}
	}
	return all
}

// judge reports whether the limit is too small, and sets the own limit of the processes where that is the reason.
func (l *LittleMemory) judge(c *v1beta2.FoundationDBCluster) bool {
	if own, set := ownMemory(c, l.Class); set && times(own, l.Servers).Cmp(l.Limit) > 0 {
		l.Own = &own
		return true
	}
	return times(LeastMemory, l.Servers).Cmp(l.Limit) > 0
}

func times(q resource.Quantity, n int) *resource.Quantity {
	q = q.DeepCopy()
	q.Mul(int64(n))
	return &q
}

// ownMemory returns the limit that the custom parameters of a class give each process; false for none, and for one that
// is not understood.
func ownMemory(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (resource.Quantity, bool) {
	for _, p := range c.Settings(class).CustomParameters {
		_, value, _ := strings.Cut(string(p), "=")
		if ArgumentName(string(p)) != "memory" {
			continue
		}
		bytes, err := fdb.ParseMemory(strings.TrimSpace(value))
		return *resource.NewQuantity(bytes, resource.BinarySI), err == nil
	}
	return resource.Quantity{}, false
}
