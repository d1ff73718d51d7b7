package safety

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// populating is the state of a region that data distribution reports as healthy while the
// region does not have all of the data yet.
const populating = "healthy_populating_region"

// RegionsReplicated checks whether the second region has a full copy of the data. A healthy
// database is no proof: recorded right after usable_regions=2, it reports healthy without any
// data in the second region.
func RegionsReplicated(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRegionsFull, Question: "does each region have a full copy of the data?", Gate: plan.GateReplicas}
	switch {
	case d.Status == nil:
		c.Evidence = noStatus(d)
	case !d.Status.Available():
		c.Evidence = "the database is unavailable"
	case !d.Status.RolesKnown() || d.Status.Cluster.FullReplication == nil:
		c.Evidence = "the status document does not report the replication of the data"
	case !*d.Status.Cluster.FullReplication:
		c.Evidence = "the data is not fully replicated"
	default:
		c.Evidence = incompleteRegion(d.Status)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "both regions are fully replicated"
		}
	}
	return c
}

// incompleteRegion returns which region has no full copy, and why; empty for none.
func incompleteRegion(s *fdb.Status) string {
	if s.Cluster.Configuration == nil {
		return "the number of replicas of each region is unknown: the status document has no configuration"
	}
	need, known := s.Cluster.Configuration.Replicas()
	if !known {
		return fmt.Sprintf("the number of replicas of each region is unknown for the redundancy mode %s", phrase.Or(s.Cluster.Configuration.RedundancyMode, phrase.Unknown))
	}
	seen := map[bool]bool{}
	if s.Cluster.Data != nil {
		for _, tracker := range s.Cluster.Data.TeamTrackers {
			seen[tracker.Primary] = true
			if why := incomplete(tracker.State, need); why != "" {
				return regionInWords(tracker.Primary) + " " + why
			}
		}
	}
	for _, primary := range []bool{true, false} {
		if !seen[primary] {
			return "data distribution does not show " + regionInWords(primary) + " yet"
		}
	}
	return ""
}

func incomplete(state fdb.DataState, need int) string {
	switch {
	case state.Name == populating:
		return "is still being populated"
	case state.Healthy == nil || !*state.Healthy:
		return "is not healthy: its state is " + phrase.Or(state.Name, phrase.Unknown)
	case state.MinReplicasRemaining == nil || *state.MinReplicasRemaining < need:
		return fmt.Sprintf("has too few replicas of some data, %d required", need)
	}
	return ""
}

func regionInWords(primary bool) string {
	if primary {
		return "the primary region"
	}
	return "the second region"
}

// PrimaryServes checks whether the region with the highest priority serves. Otherwise the
// database has failed over, or is about to, and a change of regions would rely on the wrong
// one.
func PrimaryServes(d plan.DatabaseFacts, c fdb.Configuration, home string) plan.Check {
	primary, _ := c.Primary()
	main, _ := primary.Main()
	check := plan.Check{ID: plan.CheckRegionServes, Question: "does the region with the highest priority serve?", Gate: plan.GateConfig}
	switch why := noAnswer(d); {
	case why != "":
		check.Evidence = why
	case home == "":
		check.Evidence = "the status document does not report which region serves"
	case !hasPriority(c, home, main.Priority):
		check.Evidence = fmt.Sprintf("%s serves, %s has the highest priority", home, main.ID)
	default:
		check.OK, check.Evidence = true, home+" serves"
	}
	return check
}

func hasPriority(c fdb.Configuration, dc string, priority int) bool {
	for _, r := range c.Regions {
		if main, ok := r.Main(); ok && main.ID == dc && main.Priority == priority {
			return true
		}
	}
	return false
}

// StorageInRegions checks whether each storage process is in a region of the desired
// configuration. FoundationDB refuses to leave one behind; those of a region that is no
// longer usable are removed by the database, in about half a minute.
func StorageInRegions(d plan.DatabaseFacts, want fdb.Configuration) plan.Check {
	c := plan.Check{ID: plan.CheckStorageInRegions, Question: "is each storage process in one of the regions?", Gate: plan.GateConfig}
	switch {
	case d.Status == nil:
		c.Evidence = noStatus(d)
		return c
	case !d.Status.RolesKnown():
		c.Evidence = "the status document does not report all roles"
		return c
	}
	regions := map[string]bool{}
	for _, r := range want.Regions {
		main, _ := r.Main()
		regions[main.ID] = true
	}
	var outside []string
	for _, p := range d.Status.ProcessList() {
		if p.HasRole(fdb.RoleStorage) && !regions[p.DC()] {
			outside = append(outside, fmt.Sprintf("%s (data center %s)", p.InstanceID(), phrase.Or(p.DC(), phrase.Unknown)))
		}
	}
	c.OK, c.Evidence = len(outside) == 0, "all storage processes are in one of the regions"
	if !c.OK {
		c.Evidence = fmt.Sprintf("%s outside of the regions: %s", phrase.Count(len(outside), "storage process"), strings.Join(outside[:min(len(outside), namedServers)], ", "))
	}
	return c
}

// namedServers is how many processes a check names.
const namedServers = 3

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
