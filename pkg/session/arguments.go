package session

import (
	"context"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
