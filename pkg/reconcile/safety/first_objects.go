package safety

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Unbegun reports whether nothing of a cluster exists: it has no process groups, and its database was never
// configured.
func Unbegun(c *v1beta2.FoundationDBCluster) bool {
	return len(c.Status.ProcessGroups) == 0 && !c.Status.Configured && c.Status.ConnectionString == ""
}

// SpecHolds checks that nothing in the spec alone keeps the processes of a new cluster from forming a database.
func SpecHolds(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckSpecHolds, Gate: plan.GateConfig, Question: "can processes as the spec has them form a database?"}
	errs := objects.Contradictions(s.Cluster)
	c.OK, c.Evidence = len(errs) == 0, "the spec has no contradictions"
	if !c.OK {
		c.Evidence = errorsText(errs)
	}
	return overridden(s, c)
}

// StorageClassesExist checks that volumes can be provisioned for the PVCs of a new cluster. What cannot be read is no
// reason to wait: PVCs that stay pending hold no data.
func StorageClassesExist(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckStorageClasses, Gate: plan.GateConfig, Question: "do the storage classes of the first PVCs exist?", OK: true, Evidence: "they exist"}
	switch f := s.FirstObjects; {
	case f.ClassesHidden != "":
		c.Evidence = "cannot determine: " + f.ClassesHidden
	case len(f.NoClass) > 0:
		var errs field.ErrorList
		for _, name := range f.NoClass {
			errs = append(errs, noClass(s.Cluster, name))
		}
		c.OK, c.Evidence = false, errorsText(errs)
	}
	return overridden(s, c)
}

func noClass(c *v1beta2.FoundationDBCluster, name string) *field.Error {
	path := field.NewPath("spec", "processes").Key(string(classNaming(c, name))).Child("volumeClaimTemplate", "spec", "storageClassName")
	e := field.NotFound(path, name)
	e.Detail = "there is neither such a StorageClass nor a PersistentVolume of it: name one that exists, or create it"
	return e
}

// classNaming returns the key of spec.processes whose template names a storage class; general where none does.
func classNaming(c *v1beta2.FoundationDBCluster, name string) v1beta2.ProcessClass {
	for _, class := range v1beta2.ProcessClasses() {
		if t := c.Spec.Processes[class].VolumeClaimTemplate; t != nil && t.Spec.StorageClassName != nil && *t.Spec.StorageClassName == name {
			return class
		}
	}
	return v1beta2.ProcessClassGeneral
}

// FirstObjectsAccepted checks that the API server accepts the objects of a new cluster, by a dry run. An unknown
// answer is no reason to wait: creating an object shows it, and no data depends on that.
func FirstObjectsAccepted(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckFirstObjects, Gate: plan.GateAdmission, Question: "does the API server accept the first objects of the cluster?", OK: true, Evidence: "a dry run of each kind was accepted"}
	switch f := s.FirstObjects; {
	case len(f.Refused) > 0:
		c.OK, c.Evidence = false, refusedFields(s.Cluster, f.Refused)
	case len(f.Unknown) > 0:
		c.Evidence = "cannot determine: " + phrase.SomeBy(f.Unknown, namedServers, "; ")
	}
	return c
}

// refusedFields returns the refusals by rule, with the fields of the spec that the validated fields come from.
func refusedFields(c *v1beta2.FoundationDBCluster, refused []plan.Refusal) string {
	var words []string
	for _, r := range plan.ByRule(refused) {
		text := r.Summary(refused)
		if from := specField(c, r); from != "" {
			text = from + ": " + text
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// specField returns the field of the resource that a refused field of an object comes from; empty where it is unknown.
func specField(c *v1beta2.FoundationDBCluster, r plan.Refusal) string {
	path, below := field.NewPath("spec"), r.Field
	switch {
	case below == "":
		return ""
	case below == "metadata.name":
		return "metadata.name"
	case r.ObjectKind == plan.WrittenService && strings.HasPrefix(below, "spec.ipFamil"):
		return path.Child("routing", "podIPFamily").String()
	case r.ObjectKind == plan.WrittenPod:
		return path.Child("processes").Key(string(templated(c))).Child("podTemplate").String() + "." + below
	case r.ObjectKind == plan.WrittenPVC:
		return path.Child("processes").Key(string(templated(c))).Child("volumeClaimTemplate").String() + "." + below
	default:
		return ""
	}
}

// templated returns the only key of spec.processes, and otherwise the one for all classes.
func templated(c *v1beta2.FoundationDBCluster) v1beta2.ProcessClass {
	if len(c.Spec.Processes) == 1 {
		for class := range c.Spec.Processes {
			return class
		}
	}
	return v1beta2.ProcessClassGeneral
}

func errorsText(errs field.ErrorList) string {
	words := make([]string, len(errs))
	for i, err := range errs {
		words[i] = err.Error()
	}
	return strings.Join(words, "; ")
}

// overridden returns a check that a user overrides by its gate as passed.
func overridden(s plan.Snapshot, c plan.Check) plan.Check {
	if why := s.Overrides[c.Gate]; !c.OK && why != "" {
		c.OK, c.Evidence = true, fmt.Sprintf("%s; overridden: %s", c.Evidence, why)
	}
	return c
}
