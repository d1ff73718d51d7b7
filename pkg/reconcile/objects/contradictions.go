package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Contradictions returns an error per reason, visible in the spec alone, for which its processes can never form a
// database. Validate accepts such a spec, so that a cluster which has it can still be read and repaired; no new
// cluster is created from one. The cluster must be normalized.
func Contradictions(c *v1beta2.FoundationDBCluster) field.ErrorList {
	errs := namesWithoutDNS(c)
	errs = append(errs, missingLocalities(c)...)
	errs = append(errs, missingCertificates(c)...)
	return append(errs, tooFewGroups(c)...)
}

// namesWithoutDNS are names that no label and no Service can have.
func namesWithoutDNS(c *v1beta2.FoundationDBCluster) field.ErrorList {
	path := field.NewPath("metadata", "name")
	services := c.NeedsHeadlessService() || c.PublicIPFromService()
	switch {
	case slices.Contains(slices.Collect(maps.Values(c.MatchLabels())), c.Name) && len(validation.IsValidLabelValue(c.Name)) > 0:
		return field.ErrorList{field.Invalid(path, c.Name, fmt.Sprintf("must be a label value of at most %d characters: use a shorter name", validation.LabelValueMaxLength))}
	case services && len(validation.IsDNS1123Label(c.Name)) > 0:
		return field.ErrorList{field.Invalid(path, c.Name, "must have no dots and at most 63 characters, since Services are named after it: use another name")}
	}
	return nil
}

// missingLocalities are data halls and data centers that the configuration of the database needs and no process has.
func missingLocalities(c *v1beta2.FoundationDBCluster) field.ErrorList {
	d, spec := c.Spec.DatabaseConfiguration, field.NewPath("spec")
	var errs field.ErrorList
	if d.RedundancyMode == v1beta2.RedundancyModeThreeDataHall && c.Spec.DataHall == "" && !setsArgument(c, v1beta2.ProcessClassStorage, localityArgument(fdb.LocalityDataHall)) {
		errs = append(errs, field.Required(spec.Child("dataHall"), "three_data_hall places copies of the data in three data halls: set the hall of this cluster's processes, or choose another redundancy_mode"))
	}
	if len(d.Regions) == 0 || setsArgument(c, v1beta2.ProcessClassStorage, localityArgument(fdb.LocalityDCID)) {
		return errs
	}
	var ids []string
	for _, region := range d.Regions {
		for _, dc := range region.Datacenters {
			ids = append(ids, dc.ID)
		}
	}
	if !slices.Contains(ids, c.Spec.DataCenter) {
		errs = append(errs, field.Invalid(spec.Child("dataCenter"), c.Spec.DataCenter, fmt.Sprintf(
			"must be one of the data centers of spec.databaseConfiguration.regions: %s; processes elsewhere get neither data nor roles", phrase.List(ids))))
	}
	return errs
}

func localityArgument(key string) string { return "locality_" + key }

// setsArgument reports whether the custom parameters of a class set an argument of fdbserver.
func setsArgument(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, name string) bool {
	return slices.ContainsFunc(c.Settings(class).CustomParameters, func(p v1beta2.FoundationDBCustomParameter) bool {
		return ArgumentName(string(p)) == name
	})
}

// SetsTLSFile reports whether the main container of a pod has a variable of FoundationDB's TLS settings, or the custom
// parameters of the class have the argument of the same name: FoundationDB takes FDB_X from the environment and --x
// from its arguments.
func SetsTLSFile(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, pod *corev1.Pod, variable string) bool {
	if setsArgument(c, class, strings.ToLower(strings.TrimPrefix(variable, "FDB_"))) {
		return true
	}
	if pod == nil {
		return false
	}
	main := container(pod.Spec.Containers, v1beta2.ContainerMain)
	return main != nil && slices.ContainsFunc(main.Env, func(v corev1.EnvVar) bool {
		return v.Name == variable && (v.Value != "" || v.ValueFrom != nil)
	})
}

// missingCertificates are TLS listeners without certificate and key: fdbserver ends at once without them. Of a
// database that exists, BounceProcesses checks the pods that run.
func missingCertificates(c *v1beta2.FoundationDBCluster) field.ErrorList {
	if !c.Spec.MainContainer.EnableTLS || c.Status.Configured {
		return nil
	}
	for _, class := range slices.Sorted(maps.Keys(c.DesiredProcessCounts())) {
		pod, _, err := Successor(c, class)
		if err != nil || mayHaveCertificate(c, class, pod) {
			continue // an error is found when the pod is made
		}
		return field.ErrorList{field.Invalid(field.NewPath("spec", "mainContainer", "enableTls"), true, fmt.Sprintf(
			"requires a certificate and a key, which processes of class %s do not have: set %s and %s in container %s of spec.processes, or tls_certificate_file and tls_key_file in customParameters",
			class, v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, v1beta2.ContainerMain))}
	}
	return nil
}

// defaultTLSDirectory has the files that FoundationDB uses unless others are set.
const defaultTLSDirectory = "/etc/foundationdb"

// mayHaveCertificate reports whether processes have certificate and key, or may have them from a source that the spec
// does not show: variables of a whole ConfigMap or Secret, and files mounted at the default path.
func mayHaveCertificate(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, pod *corev1.Pod) bool {
	main := container(pod.Spec.Containers, v1beta2.ContainerMain)
	if main != nil && (len(main.EnvFrom) > 0 || slices.ContainsFunc(main.VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(m.MountPath, defaultTLSDirectory)
	})) {
		return true
	}
	return SetsTLSFile(c, class, pod, v1beta2.EnvTLSCertificateFile) && SetsTLSFile(c, class, pod, v1beta2.EnvTLSKeyFile)
}

// sharesDatabase reports whether processes of other control-plane instances may be in the database too.
func sharesDatabase(c *v1beta2.FoundationDBCluster) bool {
	d := c.Spec.DatabaseConfiguration
	return c.Spec.SeedConnectionString != "" || c.Spec.ProcessGroupIDPrefix != "" || c.Spec.FaultDomain.Key == v1beta2.FaultDomainKeyKubernetesCluster ||
		!c.ConfigureDatabase() || len(d.Regions) > 0 || d.RedundancyMode == v1beta2.RedundancyModeThreeDataHall
}

// tooFewGroups are counts of process groups that cannot hold the copies of the data, or the coordinators, even if each
// has its own fault domain. Control-plane instances that share a database are judged by the processes that report.
func tooFewGroups(c *v1beta2.FoundationDBCluster) field.ErrorList {
	if sharesDatabase(c) {
		return nil
	}
	d, counts, path := c.Spec.DatabaseConfiguration, c.DesiredProcessCounts(), field.NewPath("spec", "processCounts")
	need := c.MinimumFaultDomains()
	var errs field.ErrorList
	if n := counts[v1beta2.ProcessClassStorage]; n < need {
		errs = append(errs, field.Invalid(path.Child("storage"), n, fmt.Sprintf("must be at least %d for the redundancy mode %s", need, d.RedundancyMode)))
	}
	if n := counts[v1beta2.ProcessClassLog] + counts[v1beta2.ProcessClassTransaction]; n < need {
		errs = append(errs, field.Invalid(path.Child("log"), n, fmt.Sprintf("must be at least %d for the redundancy mode %s", need, d.RedundancyMode)))
	}
	eligible := 0
	for class, n := range counts {
		if _, is := c.CoordinatorPriority(class); is {
			eligible += n
		}
	}
	if len(errs) == 0 && eligible < c.DesiredCoordinators() {
		errs = append(errs, field.Invalid(path, eligible, fmt.Sprintf("has too few process groups that may be coordinators, %d required: raise a count, or allow more classes in spec.coordinatorSelection", c.DesiredCoordinators())))
	}
	return errs
}

// Successor returns the pod and the PVC of one more process group of a class, with an ID that no group has. The PVC
// is nil for a class without volumes. They are for dry runs: the group that is added later has another ID.
func Successor(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (*corev1.Pod, *corev1.PersistentVolumeClaim, error) {
	number := v1beta2.MaxProcessGroupNumber
	for c.ProcessGroup(c.ProcessGroupIDFor(class, number)) != nil {
		number--
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, number), ProcessClass: class}
	pod, err := Pod(c, g)
	if err != nil || !class.IsStateful() {
		return pod, nil, err
	}
	claim, err := PersistentVolumeClaim(c, g)
	return pod, claim, err
}
