package session

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// PodPrefix is the prefix of a pod where an ID is accepted.
	PodPrefix = "pod/"
	// GroupPrefix is the prefix that -o name prints.
	GroupPrefix = "processgroup/"
	// FromStdin is the argument that reads IDs from standard input.
	FromStdin = "-"
)

// SplitIDs separates the cluster from the process groups in the arguments of `VERB [CLUSTER]
// [ID…]`. The first argument is the cluster, unless -c names one or the word cannot be a
// cluster's name.
func SplitIDs(args []string, flag string) (cluster, ids []string) {
	if len(args) == 0 {
		return nil, nil
	}
	first := args[0]
	named, err := bareName(first)
	switch {
	case isOnlyID(first):
		return nil, args
	case flag != "" && (err != nil || named != strings.TrimPrefix(flag, "fdb/")):
		return nil, args
	default:
		return args[:1], args[1:]
	}
}

// isOnlyID reports whether a word can name process groups and no cluster.
func isOnlyID(word string) bool {
	return word == FromStdin || strings.HasPrefix(word, PodPrefix) || strings.HasPrefix(word, GroupPrefix) || hasAddress(word)
}

func hasAddress(word string) bool {
	_, _, is := addressIn(word)
	return is
}

// GroupsNamed returns the process groups that words name, each once, in the order of the words:
// an ID, a pod's name, pod/NAME, processgroup/ID, or IP[:PORT]. A word that matches none or
// several is a usage error, and no group is returned.
func GroupsNamed(s plan.Snapshot, words []string) ([]*v1beta2.ProcessGroupStatus, error) {
	var groups []*v1beta2.ProcessGroupStatus
	var unknown []string
	for _, word := range words {
		found := GroupsFor(s, word)
		switch len(found) {
		case 0:
			unknown = append(unknown, word)
		case 1:
			if !slices.Contains(groups, found[0]) {
				groups = append(groups, found[0])
			}
		default:
			return nil, exit.Usagef("%q is ambiguous: it matches %s and %s; use an ID", word, found[0].ProcessGroupID, found[1].ProcessGroupID)
		}
	}
	if len(unknown) > 0 {
		var ids []string
		for _, g := range s.Groups() {
			ids = append(ids, string(g.ProcessGroupID))
		}
		return nil, exit.Usagef("process groups of cluster %s not found: %s%s", s.Cluster.Name, strings.Join(unknown, ", "), OrMeant(unknown[0], ids))
	}
	return groups, nil
}

// GroupsFor returns the groups that a word may refer to. An ID or a pod's name refers to one.
func GroupsFor(s plan.Snapshot, word string) []*v1beta2.ProcessGroupStatus {
	if host, port, is := addressIn(word); is {
		return groupsAt(s, host, port)
	}
	pod, onlyPod := strings.CutPrefix(word, PodPrefix)
	id, onlyID := strings.CutPrefix(word, GroupPrefix)
	for _, g := range s.Groups() {
		isID, isPod := !onlyPod && string(g.ProcessGroupID) == id, !onlyID && g.PodName(s.Cluster) == pod
		if isID || isPod {
			return []*v1beta2.ProcessGroupStatus{g}
		}
	}
	return nil
}

// addressIn parses IP, [IP], IP:PORT and the suffixes of the status document. The port is 0 if
// there is none.
func addressIn(word string) (host string, port int, is bool) {
	if ip, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		return ip.String(), 0, true
	}
	if a, err := fdb.ParseAddress(word); err == nil && a.IsIP() {
		return a.Host, a.Port, true
	}
	return "", 0, false
}

// groupsAt returns the groups at an address: those whose processes report from it, else those
// that had it according to the status. Pod addresses are reused, so reporting processes take
// precedence over recorded addresses.
func groupsAt(s plan.Snapshot, host string, port int) []*v1beta2.ProcessGroupStatus {
	var reporting, recorded []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		if reportsAt(s, g, host, port) {
			reporting = append(reporting, g)
		}
		if slices.Contains(g.Addresses, host) {
			recorded = append(recorded, g)
		}
	}
	if len(reporting) > 0 || othersReportAt(s, host) {
		return reporting
	}
	return recorded
}

func reportsAt(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, host string, port int) bool {
	return s.Database.Status != nil && slices.ContainsFunc(s.Database.Status.ProcessesOf(string(g.ProcessGroupID)), func(p fdb.Process) bool {
		return p.Address.Host == host && (port == 0 || p.Address.Port == port)
	})
}

// othersReportAt reports whether any process reports from a host, on any port.
func othersReportAt(s plan.Snapshot, host string) bool {
	return s.Database.Status != nil && slices.ContainsFunc(s.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return p.Reporting() && p.Address.Host == host
	})
}

// IDsOnly splits arguments of which at least one must be a process group: a single word is one.
func IDsOnly(args []string, flag string) (cluster, ids []string) {
	if len(args) == 1 {
		return nil, args
	}
	return SplitIDs(args, flag)
}

// generatedID is the form of the IDs of process groups: CLASS-NUMBER, with a prefix where the spec has one.
var generatedID = regexp.MustCompile(`^[a-z0-9_-]*[a-z]-[0-9]+$`)

// GroupArgs separates the cluster from the process groups in the arguments of `VERB [CLUSTER]
// [ID…]`, as SplitIDs does. A first word with the form of an ID is one, unless a cluster has this
// name.
func GroupArgs(ctx context.Context, e *Env, args []string, flag string) (cluster, ids []string) {
	cluster, ids = SplitIDs(args, flag)
	if len(cluster) == 0 || !generatedID.MatchString(cluster[0]) {
		return cluster, ids
	}
	if found, err := isCluster(ctx, e, cluster[0]); found || err != nil {
		return cluster, ids // what cannot be read is reported by the command
	}
	return nil, args
}

// GroupArgsAcross does the same over several sites, whose API servers are not asked: a first word with the form of an ID is one.
func GroupArgsAcross(args []string, flag string) (cluster, ids []string) {
	cluster, ids = SplitIDs(args, flag)
	if len(cluster) > 0 && generatedID.MatchString(cluster[0]) {
		return nil, args
	}
	return cluster, ids
}

// NodeArgs separates the cluster from the nodes in the arguments of `VERB [CLUSTER] NODE…`. The
// first word is the cluster if one has this name. If a node has it too, -c is required beside other nodes.
func NodeArgs(ctx context.Context, e *Env, args []string, flag string) (cluster, nodes []string, err error) {
	if flag != "" || len(args) == 0 {
		return nil, args, nil
	}
	if named, err := isCluster(ctx, e, args[0]); !named {
		return nil, args, err
	}
	switch there, err := nodeExists(ctx, e, args[0]); {
	case err != nil:
		return nil, nil, err
	case there && len(args) == 1:
		return nil, args, nil
	case there:
		return nil, nil, exit.Usagef("%s is the name of a cluster and of a node: set the cluster with -c", args[0])
	default:
		return args[:1], args[1:], nil
	}
}

// isCluster reports whether a cluster of the namespace has a name; false for a word that cannot be one,
// such as node/NAME.
func isCluster(ctx context.Context, e *Env, word string) (bool, error) {
	name, possible := nameIn(word)
	if !possible {
		return false, nil
	}
	namespace, err := e.Connection().Namespace()
	if err != nil {
		return false, err
	}
	return exists(ctx, e, types.NamespacedName{Namespace: namespace, Name: name}, &v1beta2.FoundationDBCluster{})
}

// nameIn returns the name of a cluster that a word can be.
func nameIn(word string) (name string, possible bool) {
	name, err := bareName(word)
	return name, err == nil
}

func nodeExists(ctx context.Context, e *Env, name string) (bool, error) {
	there, err := exists(ctx, e, types.NamespacedName{Name: name}, &corev1.Node{})
	if err != nil {
		return false, fmt.Errorf("read node %s: %w", name, err)
	}
	return there, nil
}

func exists(ctx context.Context, e *Env, key types.NamespacedName, into client.Object) (bool, error) {
	c, err := e.Client()
	if err != nil {
		return false, err
	}
	err = c.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
