package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Repeated is an action of which a stage decides one for each object. Several are reported as one,
// where only their objects differ.
type Repeated interface {
	Action
	// What identifies what is done, whatever the object: actions of one kind with the same What
	// are reported together.
	What() string
	// Each names the object without the words around it: "storage-1".
	Each() string
	// Together returns an imperative description of n such actions, without their objects.
	Together(n int) string
}

// What implements Repeated.
func (CreatePVC) What() string { return "" }

// Each implements Repeated.
func (a CreatePVC) Each() string { return string(a.Group) }

// Together implements Repeated.
func (CreatePVC) Together(n int) string { return "create " + phrase.Count(n, "PVC") }

// What implements Repeated.
func (CreatePod) What() string { return "" }

// Each implements Repeated.
func (a CreatePod) Each() string { return string(a.Group) }

// Together implements Repeated.
func (CreatePod) Together(n int) string { return "create " + phrase.Count(n, "pod") }

// What implements Repeated.
func (a ApplyService) What() string { return string(a.Verb) }

// Each implements Repeated.
func (a ApplyService) Each() string { return a.Name }

// Together implements Repeated.
func (a ApplyService) Together(n int) string {
	return string(a.Verb) + " " + phrase.Count(n, "service")
}

// What implements Repeated.
func (a SyncPodFiles) What() string { return strings.Join(a.Files, ",") }

// Each implements Repeated.
func (a SyncPodFiles) Each() string { return string(a.Group) }

// Together implements Repeated.
func (a SyncPodFiles) Together(n int) string {
	return fmt.Sprintf("copy %s in the sidecars of %s", strings.Join(a.Files, ", "), phrase.Count(n, "pod"))
}

// What implements Repeated.
func (a PatchMetadata) What() string { return string(a.Kind) + " " + strings.Join(a.keys(), ",") }

// Each implements Repeated.
func (a PatchMetadata) Each() string { return phrase.Or(string(a.Group), a.Name) }

// Together implements Repeated.
func (a PatchMetadata) Together(n int) string {
	noun := "pod"
	if a.Kind == KindPVC {
		noun = "PVC"
	}
	return fmt.Sprintf("set on %s: %s", phrase.Count(n, noun), strings.Join(a.keys(), ", "))
}

// keys are the labels and annotations that change; those that are removed begin with "-".
func (a PatchMetadata) keys() []string {
	keys := slices.Sorted(maps.Keys(a.Labels))
	keys = append(keys, slices.Sorted(maps.Keys(a.Annotations))...)
	for _, key := range a.Remove {
		keys = append(keys, "-"+key)
	}
	return keys
}

// What implements Repeated.
func (a SetSidecarImage) What() string { return a.Container + " " + a.Image }

// Each implements Repeated.
func (a SetSidecarImage) Each() string { return string(a.Group) }

// Together implements Repeated.
func (a SetSidecarImage) Together(n int) string {
	return fmt.Sprintf("set the image of container %s of %s to %s", a.Container, phrase.Count(n, "pod"), a.Image)
}
