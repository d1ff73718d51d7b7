package objects

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// MonitorConfiguration is what starts the processes of a pod: the arguments of
// fdbserver in the operator's order, which the unified monitor keeps. Without a
// connection string it starts none.
func MonitorConfiguration(c *v1beta2.FoundationDBCluster, l Launch) (fdb.MonitorConfiguration, error) {
	custom, err := customArguments(c, l.Class)
	if err != nil {
		return fdb.MonitorConfiguration{}, err
	}
	m := fdb.MonitorConfiguration{
		Version: c.Spec.Version,
		Arguments: slices.Concat(
			processArguments(c, l),
			localityArguments(c),
			listenArguments(c, l),
			custom,
			placeArguments(c, l.Class),
		),
	}
	if c.Status.ConnectionString == "" {
		m.RunServers = new(false)
	}
	return m, nil
}

func processArguments(c *v1beta2.FoundationDBCluster, l Launch) []fdb.Argument {
	arguments := []fdb.Argument{
		{Value: "--cluster_file=/var/fdb/data/fdb.cluster"},
		{Value: "--seed_cluster_file=/var/dynamic-conf/fdb.cluster"},
		addressArgument(c, l, "--public_address=", v1beta2.EnvPublicIP),
		{Value: "--class=" + string(l.Class)},
		{Value: "--logdir=/var/log/fdb-trace-logs"},
		{Value: "--loggroup=" + c.LogGroup()},
	}
	if !l.numbersServers() {
		return append(arguments, fdb.Argument{Value: "--datadir=/var/fdb/data"})
	}
	number := fdb.Argument{Type: fdb.ArgumentProcessNumber}
	return append(arguments,
		concatenate(fdb.Argument{Value: "--datadir=/var/fdb/data/"}, number),
		concatenate(fdb.Argument{Value: "--locality_process_id="}, environment(v1beta2.EnvInstanceID), fdb.Argument{Value: "-"}, number),
	)
}

// numbersServers reports whether the processes of a pod have directories and IDs of
// their own: always with the unified image, otherwise from two processes on.
//
// The operator uses the image type that the cluster should have, not that of the pod. While a
// cluster changes from one image type to the other, a process that is restarted in one of the
// remaining pods would then use another data directory, and start empty. The two differ only
// during such a change.
func (l Launch) numbersServers() bool {
	return l.Servers > 1 || l.ImageType == v1beta2.ImageTypeUnified
}

func localityArguments(c *v1beta2.FoundationDBCluster) []fdb.Argument {
	return []fdb.Argument{
		concatenate(fdb.Argument{Value: "--locality_instance_id="}, environment(v1beta2.EnvInstanceID)),
		concatenate(fdb.Argument{Value: "--locality_machineid="}, environment(v1beta2.EnvMachineID)),
		concatenate(fdb.Argument{Value: "--locality_zoneid="}, environment(zoneVariable(c))),
	}
}

// zoneVariable is the environment variable that holds a pod's zone.
func zoneVariable(c *v1beta2.FoundationDBCluster) string {
	if name, custom := strings.CutPrefix(c.Spec.FaultDomain.ValueFrom, "$"); custom {
		return name
	}
	return v1beta2.EnvZoneID
}

func listenArguments(c *v1beta2.FoundationDBCluster, l Launch) []fdb.Argument {
	var arguments []fdb.Argument
	if c.NeedsExplicitListenAddress() && c.Status.HasListenIPsForAllPods {
		arguments = append(arguments, addressArgument(c, l, "--listen_address=", v1beta2.EnvPodIP))
	}
	if rules := c.Spec.MainContainer.PeerVerificationRules; rules != "" {
		arguments = append(arguments, fdb.Argument{Value: "--tls_verify_peers=" + rules})
	}
	return arguments
}

// addressArgument lists the addresses of a process, one per listener. The unified
// monitor gets brackets around every IP; the split sidecar adds them where needed.
func addressArgument(c *v1beta2.FoundationDBCluster, l Launch, flag, variable string) fdb.Argument {
	opening, closing := "", ""
	ip := environment(variable)
	if l.ImageType == v1beta2.ImageTypeUnified {
		opening, closing = "[", "]"
		if l.IPFamily != 0 {
			ip = fdb.Argument{Type: fdb.ArgumentIPList, Source: variable, IPFamily: l.IPFamily}
		}
	}
	var parts []fdb.Argument
	separator := flag
	for _, listen := range listeners(c) {
		parts = append(parts,
			fdb.Argument{Value: separator + opening},
			ip,
			fdb.Argument{Value: closing + ":"},
			fdb.Argument{Type: fdb.ArgumentProcessNumber, Offset: listen.offset(), Multiplier: portStep},
		)
		if listen.suffix != "" {
			parts = append(parts, fdb.Argument{Value: listen.suffix})
		}
		separator = ","
	}
	return concatenate(parts...)
}

// customArguments are the user's own parameters. A value that starts with $ names
// an environment variable. Unlike in the operator, which cuts a value at its
// second "=", the value is everything after the first one; a parameter whose value
// has no "=" comes out the same.
func customArguments(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) ([]fdb.Argument, error) {
	var arguments []fdb.Argument
	for _, parameter := range c.Settings(class).CustomParameters {
		name, value, found := strings.Cut(string(parameter), "=")
		if !found {
			return nil, fmt.Errorf("custom parameter %q of class %s: must be name=value", parameter, class)
		}
		arguments = append(arguments, customArgument(strings.TrimSpace(name), strings.TrimSpace(value)))
	}
	return arguments, nil
}

// customArgument sets the type of a literal explicitly, as the operator does only here.
func customArgument(name, value string) fdb.Argument {
	text := fdb.Argument{Type: fdb.ArgumentLiteral, Value: value}
	if strings.HasPrefix(value, "$") {
		text = environment(strings.Trim(value, "$"))
	}
	return concatenate(fdb.Argument{Type: fdb.ArgumentLiteral, Value: "--" + name + "="}, text)
}

// placeArguments are the data center and the data hall of a process, unless a custom parameter
// sets them, and the name by which the cluster file has it.
func placeArguments(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []fdb.Argument {
	var arguments []fdb.Argument
	for _, place := range []struct{ parameter, value string }{
		{"locality_" + fdb.LocalityDCID, c.Spec.DataCenter},
		{"locality_" + fdb.LocalityDataHall, c.Spec.DataHall},
	} {
		if place.value != "" && !hasCustomParameter(c, class, place.parameter) {
			arguments = append(arguments, fdb.Argument{Value: "--" + place.parameter + "=" + place.value})
		}
	}
	if c.DefineDNSLocalityFields() {
		arguments = append(arguments, concatenate(fdb.Argument{Value: "--locality_" + fdb.LocalityDNSName + "="}, environment(v1beta2.EnvDNSName)))
	}
	return arguments
}

func hasCustomParameter(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, prefix string) bool {
	return slices.ContainsFunc(c.Settings(class).CustomParameters, func(p v1beta2.FoundationDBCustomParameter) bool {
		return strings.HasPrefix(string(p), prefix)
	})
}

func concatenate(parts ...fdb.Argument) fdb.Argument {
	return fdb.Argument{Type: fdb.ArgumentConcatenate, Values: parts}
}

func environment(variable string) fdb.Argument {
	return fdb.Argument{Type: fdb.ArgumentEnvironment, Source: variable}
}

// FirstPort is the port of a pod's first server, of TLS if its cluster uses that.
func FirstPort(c *v1beta2.FoundationDBCluster) int {
	if c.Spec.MainContainer.EnableTLS {
		return tlsListener.portOf(1)
	}
	return plainListener.portOf(1)
}

// listener is one way to connect to processes.
type listener struct {
	// port is that of a pod's first process; each further one has the port two above.
	port int
	// suffix follows the port in an address.
	suffix string
	// name is what a service calls the port.
	name string
}

var (
	tlsListener   = listener{port: 4500, suffix: ":tls", name: "tls"}
	plainListener = listener{port: 4501, name: "non-tls"}
)

// portStep is how far the ports of two processes of one pod are apart: one for
// each listener.
const portStep = 2

// portOf is the port of process n, from 1.
func (l listener) portOf(n int) int { return l.offset() + portStep*n }

// ServerAt is the number, from 1, of the process of a pod that has a port.
func ServerAt(port int) int { return (port-tlsListener.port)/portStep + 1 }

// offset is what has to be added to portStep times the process's number.
func (l listener) offset() int { return l.port - portStep }

// listeners are the ways in which the processes must be reachable now: both during a
// conversion to or from TLS, TLS first. A status without any, which was never computed, means
// those of the spec.
func listeners(c *v1beta2.FoundationDBCluster) []listener {
	required := c.Status.RequiredAddresses
	switch {
	case required.TLS && required.NonTLS:
		return []listener{tlsListener, plainListener}
	case required.TLS:
		return []listener{tlsListener}
	case required.NonTLS:
		return []listener{plainListener}
	case c.Spec.MainContainer.EnableTLS:
		return []listener{tlsListener}
	default:
		return []listener{plainListener}
	}
}

// HeadlessService is the service for the DNS names of the pods; nil when the
// cluster needs none.
func HeadlessService(c *v1beta2.FoundationDBCluster) *corev1.Service {
	if !c.NeedsHeadlessService() {
		return nil
	}
	return &corev1.Service{
		ObjectMeta: metadata(c, nil, c.HeadlessServiceName(), nil),
		Spec: corev1.ServiceSpec{
			ClusterIP:  corev1.ClusterIPNone,
			Selector:   c.MatchLabels(),
			IPFamilies: serviceFamilies(c),
		},
	}
}

// GroupService is the service whose IP is the public address of one group's pod;
// nil when pods have their own public IPs.
func GroupService(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) *corev1.Service {
	if !c.PublicIPFromService() {
		return nil
	}
	return &corev1.Service{
		ObjectMeta: metadata(c, nil, g.ServiceName(c), groupLabels(c, g)),
		Spec: corev1.ServiceSpec{
			Type:                     corev1.ServiceTypeClusterIP,
			Ports:                    servicePorts(c, g.ProcessClass),
			PublishNotReadyAddresses: true,
			Selector:                 groupSelector(c, g),
			IPFamilies:               serviceFamilies(c),
		},
	}
}

// servicePorts are both ports of every process, whether it listens there or not.
// As in the operator, the further processes of log pods have none.
func servicePorts(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []corev1.ServicePort {
	servers := 1
	if class == v1beta2.ProcessClassStorage {
		servers = c.ServersPerPod(class)
	}
	var ports []corev1.ServicePort
	for n := 1; n <= servers; n++ {
		for _, l := range []listener{tlsListener, plainListener} {
			ports = append(ports, l.servicePort(n))
		}
	}
	return ports
}

func (l listener) servicePort(n int) corev1.ServicePort {
	name := l.name
	if n > 1 {
		name = fmt.Sprintf("%s-%d", l.name, n)
	}
	return corev1.ServicePort{Name: name, Port: int32(l.portOf(n))} //nolint:gosec // a port of the few servers in a pod
}

func serviceFamilies(c *v1beta2.FoundationDBCluster) []corev1.IPFamily {
	if c.PodIPFamily() == 6 {
		return []corev1.IPFamily{corev1.IPv6Protocol}
	}
	return nil
}
