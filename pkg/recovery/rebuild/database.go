package rebuild

import (
	"cmp"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// configuration takes the configuration that the database reports, as a spec has it.
func (b *builder) configuration() {
	const path = "spec.databaseConfiguration"
	if b.facts.Status == nil || b.facts.Status.Cluster.Configuration == nil {
		b.doubt(path, "the database does not report it ("+phrase.Or(b.facts.StatusUnknown, "the status document has no configuration")+"): take it from a dump, or add it before spec.skip is set to false, since a pass configures the database by the manifest")
		return
	}
	reported := *b.facts.Status.Cluster.Configuration
	b.cluster.Spec.DatabaseConfiguration = objects.ConfigurationForResource(reported)
	b.know(path, fromDatabase)
	if _, known := fdb.MinimumFaultDomains(reported.RedundancyMode); !known {
		b.cluster.Spec.DatabaseConfiguration.RedundancyMode = ""
		b.doubt(path+".redundancy_mode", "the database reports "+phrase.Or(reported.RedundancyMode, phrase.Unknown)+", which no spec can have: add the regular mode")
		return
	}
	version, err := fdb.ParseVersion(b.cluster.Spec.Version)
	if err != nil {
		return
	}
	for _, difference := range reported.Differences(objects.DesiredConfiguration(b.cluster), version) {
		b.doubt(path, "a pass would change "+difference.String())
	}
}

// network infers routing and TLS.
func (b *builder) network() {
	b.routing()
	b.addresses()
	b.certificates()
}

// routing infers where the addresses of processes come from.
func (b *builder) routing() {
	routing := &b.cluster.Spec.Routing
	if len(b.ofPods(func(group) string { return "" })) == 0 {
		b.doubt("spec.routing", "no pod is left")
		return
	}
	if source, ok := b.only("spec.routing.publicIPSource", fromPod, b.ofPods(func(g group) string { return string(objects.PublicIPSourceOf(g.pod)) })); ok && source != string(v1beta2.PublicIPSourcePod) {
		routing.PublicIPSource = new(v1beta2.PublicIPSource(source))
	}
	families := b.ofPods(func(g group) string {
		family, err := objects.IPFamilyOf(g.pod)
		if err != nil {
			return err.Error()
		}
		return strconv.Itoa(family)
	})
	if text, ok := b.only("spec.routing.podIPFamily", fromPod, families); ok && text != "0" {
		if family, err := strconv.Atoi(text); err == nil {
			routing.PodIPFamily = &family
		}
	}
	if b.allHave("spec.useExplicitListenAddress", v1beta2.EnvPodIP) == no {
		b.cluster.Spec.OmitListenAddress()
	}
	names := b.allHave("spec.routing.defineDNSLocalityFields", v1beta2.EnvDNSName)
	routing.DefineDNSLocalityFields = names.pointer()
	if names == yes {
		b.dnsDomain()
		return
	}
	headless := slices.ContainsFunc(b.facts.Services, func(s corev1.Service) bool { return s.Name == b.facts.Name && s.Spec.ClusterIP == corev1.ClusterIPNone })
	if headless {
		routing.HeadlessService = new(true)
		b.know("spec.routing.headlessService", "service "+b.facts.Name)
	}
}

// dnsDomain infers the domain from the names of pods.
func (b *builder) dnsDomain() {
	domains := b.ofPods(func(g group) string {
		_, domain, _ := strings.Cut(objects.DeclaredVariables(g.pod, v1beta2.ContainerMain)[v1beta2.EnvDNSName]+objects.DeclaredVariables(g.pod, v1beta2.ContainerSidecar)[v1beta2.EnvDNSName], ".svc.")
		return domain
	})
	if domain, ok := b.only("spec.routing.dnsDomain", fromPod, domains); ok && domain != b.cluster.DNSDomain() {
		b.cluster.Spec.Routing.DNSDomain = &domain
	}
}

// answer is yes, no or unknown.
type answer string

const (
	yes answer = "yes"
	no  answer = "no"
)

func (a answer) pointer() *bool {
	if a != yes && a != no {
		return nil
	}
	return new(a == yes)
}

// allHave infers whether pods have a variable.
func (b *builder) allHave(path, variable string) answer {
	text, _ := b.only(path, fromPod, b.ofPods(func(g group) string {
		for _, c := range g.pod.Spec.Containers {
			if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == variable }) {
				return string(yes)
			}
		}
		return string(no)
	}))
	return answer(text)
}

// addresses infers whether the cluster file has DNS names, and whether processes use TLS.
func (b *builder) addresses() {
	s, err := fdb.ParseConnectionString(b.cluster.Spec.SeedConnectionString)
	if err != nil {
		for _, path := range []string{"spec.routing.useDNSInClusterFile", "spec.mainContainer.enableTls"} {
			b.doubt(path, "there is no valid connection string")
		}
		return
	}
	names, tls := false, false
	for _, c := range s.Coordinators {
		_, err := netip.ParseAddr(c.Host)
		names, tls = names || err != nil, tls || c.TLS
	}
	source := "the addresses of coordinators"
	b.cluster.Spec.Routing.UseDNSInClusterFile = &names
	b.know("spec.routing.useDNSInClusterFile", source)
	if names {
		b.cluster.Spec.Routing.DefineDNSLocalityFields = nil // implied
	}
	b.cluster.Spec.MainContainer.EnableTLS = tls
	b.know("spec.mainContainer.enableTls", source)
}

// certificates infers what else TLS needs.
func (b *builder) certificates() {
	if b.facts.ConfigMap != nil {
		if authorities := b.facts.ConfigMap.Data[objects.KeyCAFile]; authorities != "" {
			b.cluster.Spec.TrustedCAs = []string{authorities}
			b.know("spec.trustedCAs", fromConfigMap)
		}
	}
	for _, g := range b.groups {
		if g.pod == nil {
			continue
		}
		for _, c := range g.pod.Spec.Containers {
			if c.Name == v1beta2.ContainerSidecar && slices.Contains(c.Args, "--tls") {
				b.cluster.Spec.SidecarContainer.EnableTLS = true
				b.know("spec.sidecarContainer.enableTls", "pod "+g.pod.Name)
			}
		}
		rules := objects.DeclaredVariables(g.pod, v1beta2.ContainerSidecar)[v1beta2.EnvTLSVerifyPeers]
		if rules != "" {
			b.cluster.Spec.SidecarContainer.PeerVerificationRules = rules
			b.know("spec.sidecarContainer.peerVerificationRules", "pod "+g.pod.Name)
		}
		return
	}
}

// parameters infers what command lines have beyond the arguments of a pass.
func (b *builder) parameters() {
	const path = "spec.processes.*.customParameters"
	lines := map[v1beta2.ProcessClass][]string{}
	var groups, rules []string
	passArguments := objects.ArgumentsOfAnyCluster()
	for _, p := range b.processes() {
		i := slices.IndexFunc(b.groups, func(g group) bool { return string(g.ID) == p.InstanceID() })
		custom, own := splitCommandLine(p.CommandLine, passArguments)
		lines[b.groups[i].Class] = append(lines[b.groups[i].Class], strings.Join(custom, "\n"))
		groups, rules = append(groups, own["loggroup"]), append(rules, own["tls_verify_peers"])
	}
	if len(lines) == 0 {
		b.doubt(path, "no process reports its command line")
		b.doubt("spec.logGroup", "no process reports its command line")
		return
	}
	if name, ok := b.only("spec.logGroup", fromProcess, groups); ok && name != b.facts.Name {
		b.cluster.Spec.LogGroup = name
	}
	if text, ok := b.only("spec.mainContainer.peerVerificationRules", fromProcess, rules); ok {
		b.cluster.Spec.MainContainer.PeerVerificationRules = text
	}
	custom := map[v1beta2.ProcessClass]v1beta2.FoundationDBCustomParameters{}
	for class := range lines {
		text, ok := b.only("spec.processes."+string(class)+".customParameters", fromProcess, lines[class])
		custom[class] = nil // so that those of another class are not those of all
		for argument := range strings.SplitSeq(text, "\n") {
			if ok && argument != "" {
				custom[class] = append(custom[class], v1beta2.FoundationDBCustomParameter(argument))
			}
		}
	}
	setPerClass(b, custom, func(c v1beta2.FoundationDBCustomParameters) bool { return len(c) == 0 }, func(s *v1beta2.ProcessSettings, c v1beta2.FoundationDBCustomParameters) { s.CustomParameters = c })
}

// splitCommandLine separates the arguments that a pass sets itself from others.
func splitCommandLine(line string, passArguments map[string]bool) (custom []string, own map[string]string) {
	own = map[string]string{}
	for _, word := range strings.Fields(line)[min(1, len(strings.Fields(line))):] {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if passArguments[name] {
			own[name] = value
			continue
		}
		custom = append(custom, name+"="+value)
	}
	return custom, own
}

// setPerClass sets a part of the settings: of the class general if all classes have the same, else of each
// class that has any.
func setPerClass[T any](b *builder, values map[v1beta2.ProcessClass]T, empty func(T) bool, set func(*v1beta2.ProcessSettings, T)) {
	classes := slices.SortedFunc(maps.Keys(values), cmp.Compare)
	same := !slices.ContainsFunc(classes, func(c v1beta2.ProcessClass) bool { return !reflect.DeepEqual(values[c], values[classes[0]]) })
	if same && len(classes) > 0 {
		values, classes = map[v1beta2.ProcessClass]T{v1beta2.ProcessClassGeneral: values[classes[0]]}, []v1beta2.ProcessClass{v1beta2.ProcessClassGeneral}
	}
	for _, class := range classes {
		if empty(values[class]) {
			continue
		}
		if b.cluster.Spec.Processes == nil {
			b.cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{}
		}
		settings := b.cluster.Spec.Processes[class]
		set(&settings, values[class])
		b.cluster.Spec.Processes[class] = settings
	}
}
