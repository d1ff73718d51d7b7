package rebuild

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// Sources of fields, as they are counted.
const (
	fromPod       = "pod"
	fromProcess   = "process"
	fromConfigMap = "the ConfigMap"
	fromDatabase  = "the database"
)

// connectionString infers where the database is: it reports that itself, else the ConfigMap has it.
func (b *builder) connectionString() {
	const path = "spec.seedConnectionString"
	reported, stored := "", ""
	if b.facts.Status != nil {
		reported = b.facts.Status.Cluster.ConnectionString
	}
	if b.facts.ConfigMap != nil {
		stored = strings.TrimSpace(b.facts.ConfigMap.Data[objects.KeyClusterFile])
	}
	switch {
	case reported != "":
		b.cluster.Spec.SeedConnectionString = reported
		b.know(path, fromDatabase)
		if stored != "" && !sameString(reported, stored) {
			b.doubt(path, "the ConfigMap has another one, "+stored+"; the one of the database is used")
		}
	case stored != "":
		b.cluster.Spec.SeedConnectionString = stored
		b.know(path, fromConfigMap)
	default:
		b.doubt(path, "neither the database nor a ConfigMap has it: add that of a client's cluster file; without it a pass would create a new database")
	}
}

func sameString(a, b string) bool {
	x, err := fdb.ParseConnectionString(a)
	y, other := fdb.ParseConnectionString(b)
	return err == nil && other == nil && x.Description == y.Description && x.ID == y.ID && x.SameCoordinators(y.Coordinators)
}

// version infers the version that runs: the processes report it, else the ConfigMap has it, else
// the images.
func (b *builder) version() {
	const path = "spec.version"
	images := b.ofPods(func(g group) string { return versionOf(mainImage(g.pod)) })
	running := ""
	if b.facts.ConfigMap != nil {
		running = b.facts.ConfigMap.Data[objects.KeyRunningVersion]
	}
	switch reported := b.reported(func(p fdb.Process) string { return strings.TrimSuffix(p.Version, "-PRERELEASE") }); {
	case len(reported) > 0:
		b.cluster.Spec.Version, _ = b.only(path, fromProcess, reported)
	case running != "":
		b.cluster.Spec.Version = running
		b.know(path, fromConfigMap)
	default:
		b.cluster.Spec.Version, _ = b.only(path, fromPod, images)
	}
	for _, image := range slices.Compact(slices.Sorted(slices.Values(images))) {
		if b.cluster.Spec.Version != "" && image != b.cluster.Spec.Version {
			b.doubt(path, "pods have images of "+phrase.Or(image, phrase.Unknown)+": an upgrade may have been active")
		}
	}
}

// reported returns a value of each process of the groups that are left.
func (b *builder) reported(value func(fdb.Process) string) []string {
	var all []string
	for _, p := range b.processes() {
		if text := value(p); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func (b *builder) processes() []fdb.Process {
	var own []fdb.Process
	if b.facts.Status == nil {
		return nil
	}
	for _, p := range b.facts.Status.ProcessList() {
		if slices.ContainsFunc(b.groups, func(g group) bool { return string(g.ID) == p.InstanceID() }) {
			own = append(own, p)
		}
	}
	return own
}

func mainImage(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == v1beta2.ContainerMain {
			return c.Image
		}
	}
	return ""
}

// versionOf returns the version with which the tag of an image begins; empty if it does not.
func versionOf(image string) string {
	_, tag := afterLast(image, ":")
	number, _, _ := strings.Cut(tag, "-")
	if _, err := fdb.ParseVersion(number); err != nil {
		return ""
	}
	return number
}

// imageType infers which image pods have.
func (b *builder) imageType() {
	if len(b.ofPods(func(group) string { return "" })) == 0 {
		b.doubt("spec.imageType", "no pod is left")
		return
	}
	if text, ok := b.only("spec.imageType", fromPod, b.ofPods(func(g group) string { return string(objects.ImageTypeOf(g.pod)) })); ok {
		b.cluster.Spec.ImageType = new(v1beta2.ImageType(text))
	}
}

// images infers the rules for images that are not the default ones.
func (b *builder) images() {
	for name, into := range map[string]*v1beta2.ContainerOverrides{v1beta2.ContainerMain: &b.cluster.Spec.MainContainer, v1beta2.ContainerSidecar: &b.cluster.Spec.SidecarContainer} {
		if name == v1beta2.ContainerSidecar && b.cluster.UsesUnifiedImage() {
			continue // it has the image of the main container
		}
		found := slices.Compact(slices.Sorted(slices.Values(b.ofPods(func(g group) string { return imageOf(g.pod, name) }))))
		usual, err := b.cluster.Image(corev1.Container{Name: name}, b.cluster.Spec.Version)
		path := map[bool]string{true: "spec.mainContainer.imageConfigs", false: "spec.sidecarContainer.imageConfigs"}[name == v1beta2.ContainerMain]
		switch {
		case len(found) == 0:
			b.doubt(path, "no pod is left")
		case err != nil || len(found) == 1 && found[0] == usual:
		case len(found) > 1:
			b.doubt(path, "pods have several images: "+phrase.List(found))
		default:
			into.ImageConfigs = []v1beta2.ImageConfig{imageRule(found[0], usual, b.cluster.Spec.Version)}
			b.know(path, "image "+found[0]+" of all pods")
		}
	}
}

func imageOf(pod *corev1.Pod, name string) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == name {
			return c.Image
		}
	}
	return ""
}

// imageRule returns the rule that leads from the default image to the found one.
func imageRule(found, usual, version string) v1beta2.ImageConfig {
	base, tag := afterLast(found, ":")
	rule := v1beta2.ImageConfig{}
	usualBase, usualTag := afterLast(usual, ":")
	if base != usualBase {
		rule.BaseImage = base
	}
	if tag == usualTag {
		return rule
	}
	if suffix, is := strings.CutPrefix(tag, version); is && suffix != "" {
		rule.TagSuffix = suffix
		return rule
	}
	rule.Version, rule.Tag = version, tag
	return rule
}

// prefixAndCounts infers the prefix of process group IDs, and how many process groups of each class
// existed. A class without data is known by its pods only.
func (b *builder) prefixAndCounts() {
	counts, withPods := map[v1beta2.ProcessClass]int{}, 0
	var prefixes []string
	for _, g := range b.groups {
		counts[g.Class]++
		if g.pod != nil || g.claim != nil {
			withPods++
			if prefix, _, _, err := g.ID.Split(); err == nil {
				prefixes = append(prefixes, prefix)
			}
		}
	}
	if withPods > 0 {
		if prefix, ok := b.only("spec.processGroupIDPrefix", "process group ID", prefixes); ok {
			b.cluster.Spec.ProcessGroupIDPrefix = prefix
		}
	} else {
		b.doubt("spec.processGroupIDPrefix", "the names of PVCs do not have it; without it process group IDs may differ from the former ones")
	}
	text, err := json.Marshal(counts)
	if err == nil {
		err = json.Unmarshal(text, &b.cluster.Spec.ProcessCounts)
	}
	if err != nil {
		b.doubt("spec.processCounts", err.Error())
		return
	}
	b.countSources(counts)
}

func (b *builder) countSources(counts map[v1beta2.ProcessClass]int) {
	for _, class := range slices.Sorted(slices.Values(classesOf(counts))) {
		pods, claims, volumes := 0, 0, 0
		for _, g := range b.groups {
			if g.Class != class {
				continue
			}
			if g.pod != nil {
				pods++
			}
			if g.claim != nil {
				claims++
			}
			if g.volume != nil {
				volumes++
			}
		}
		source := phrase.Count(pods, "pod")
		if class.IsStateful() {
			source += fmt.Sprintf(", %s, %s", phrase.Count(claims, "PVC"), phrase.Count(volumes, "volume"))
		}
		b.know("spec.processCounts."+string(class), source)
	}
	if len(b.facts.Pods) == 0 {
		b.doubt("spec.processCounts", "process groups without a volume, as all of the class stateless, are unknown; defaults apply to classes without a count")
	} else {
		b.doubt("spec.processCounts", "process groups that were marked for removal, or being replaced, are counted as well; classes without a count get the default one")
	}
}

func classesOf(counts map[v1beta2.ProcessClass]int) []v1beta2.ProcessClass {
	var all []v1beta2.ProcessClass
	for class := range counts {
		all = append(all, class)
	}
	return all
}

// places infers the data center, the data hall and the fault domain.
func (b *builder) places() {
	for _, place := range []struct {
		path, locality string
		into           *string
	}{
		{"spec.dataCenter", fdb.LocalityDCID, &b.cluster.Spec.DataCenter},
		{"spec.dataHall", fdb.LocalityDataHall, &b.cluster.Spec.DataHall},
	} {
		processes := b.processes()
		if len(processes) == 0 {
			b.doubt(place.path, "no process reports its locality "+place.locality)
			continue
		}
		values := []string{}
		for _, p := range processes {
			values = append(values, p.Locality[place.locality])
		}
		if value, ok := b.only(place.path, fromProcess, values); ok {
			*place.into = value
		}
	}
	b.faultDomain()
	b.serversPerPod()
}

// faultDomain infers from what pods fill the variable of their zone.
func (b *builder) faultDomain() {
	const path = "spec.faultDomain"
	sources := b.ofPods(func(g group) string { return zoneSource(g.pod) })
	if len(sources) == 0 {
		b.doubt(path, "no pod is left")
		return
	}
	source, ok := b.only(path, fromPod, sources)
	if !ok {
		return
	}
	domain := &b.cluster.Spec.FaultDomain
	switch from, is := strings.CutPrefix(source, zoneField); {
	case is && from == "metadata.name":
		domain.Key = v1beta2.FaultDomainKeyNone
	case is:
		domain.Key = topologyKey(b.groups)
		domain.ValueFrom = from
	case source != "":
		domain.Key, domain.Value = v1beta2.FaultDomainKeyKubernetesCluster, strings.TrimPrefix(source, zoneValue)
		b.doubt("spec.faultDomain.zoneIndex", "pods do not have it, nor the zone count")
	default:
		b.doubt("spec.faultDomain.valueFrom", "pods have no variable of the zone: it is a variable of the template")
	}
}

// What precedes the source of a zone.
const (
	zoneField = "field "
	zoneValue = "value "
)

func zoneSource(pod *corev1.Pod) string {
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for _, v := range c.Env {
			switch {
			case v.Name != v1beta2.EnvZoneID:
			case v.ValueFrom != nil && v.ValueFrom.FieldRef != nil:
				return zoneField + v.ValueFrom.FieldRef.FieldPath
			case v.ValueFrom == nil:
				return zoneValue + v.Value
			}
		}
	}
	return ""
}

// topologyKey returns over what pods prefer to be spread; empty if no pod has a preference.
func topologyKey(groups []group) string {
	for _, g := range groups {
		if g.pod == nil || g.pod.Spec.Affinity == nil || g.pod.Spec.Affinity.PodAntiAffinity == nil {
			continue
		}
		terms := g.pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		if len(terms) > 0 { // a pass appends its own
			return terms[len(terms)-1].PodAffinityTerm.TopologyKey
		}
	}
	return ""
}

// serversPerPod infers how many processes a pod has.
func (b *builder) serversPerPod() {
	for _, of := range []struct {
		path string
		is   func(v1beta2.ProcessClass) bool
		into *int
	}{
		{"spec.storageServersPerPod", func(c v1beta2.ProcessClass) bool { return c == v1beta2.ProcessClassStorage }, &b.cluster.Spec.StorageServersPerPod},
		{"spec.logServersPerPod", v1beta2.ProcessClass.IsLog, &b.cluster.Spec.LogServersPerPod},
	} {
		var values []string
		for _, g := range b.groups {
			if g.pod == nil || !of.is(g.Class) {
				continue
			}
			if n, err := objects.ServersPerPodOf(g.pod, g.Class); err == nil {
				values = append(values, strconv.Itoa(n))
			}
		}
		if text, ok := b.only(of.path, fromPod, values); ok {
			*of.into, _ = strconv.Atoi(text) // it was a number
		}
	}
}
