package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// monitorAccount is the service account of pods with the unified image: the monitor in each pod writes
// annotations of its own pod.
const monitorAccount = "fdb-kubernetes"

// createOptions are what `create` asks about a cluster.
type createOptions struct {
	options
	version, redundancy, engine string
	storage, log, stateless     int
	volume, storageClass        string
	cpu, memory                 string
	// prompted is true after prompts for settings.
	prompted bool
}

// NewCreate returns `kubectl fdb create`.
func NewCreate(env *session.Env) *cobra.Command {
	var o createOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"reconcile.md#new-clusters"},
		Lacks: lacking(),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(slices.Concat(
				creating("apps.foundationdb.org", "foundationdbclusters"), creating("", "serviceaccounts"),
				creating("rbac.authorization.k8s.io", "roles"), creating("rbac.authorization.k8s.io", "rolebindings"),
			)...), cmdutil.Auditing(), cmdutil.Optional("a missing resource definition is reported without its command", session.Permission{Verb: "list", Group: "apps.foundationdb.org", Resource: "foundationdbclusters"}))
		},
	}, &cobra.Command{
		Use:   "create NAME",
		Short: "Create a FoundationDBCluster resource",
		Long: `Create a FoundationDBCluster resource from a few settings, with the service account that its
pods use. An existing resource is never changed. Neither pods nor a database are created:
reconcile does that. --print prints the manifest, to edit it or to keep it in a repository.

On a terminal, kubectl fdb create NAME alone prompts for version, redundancy, storage
processes, volume size and memory, each with its default, and prints the command with all
answers. With --version, with --yes and on a pipe, there are no prompts.

Counts of 0 are the defaults of the redundancy mode.

Exit code 0: all exist. 6: an existing resource differs.`,
		Example: `  # Print the manifest of a cluster with two copies of all data
  kubectl fdb create sample-cluster --version 7.3.79 --print

  # Create one with three copies on fast volumes
  kubectl fdb create orders --version 7.3.79 --redundancy triple --storage 5 --volume-size 256Gi --storage-class fast --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			if o.prompts(env) {
				if err := ask(cmd.Context(), env, cmd); err != nil {
					return err
				}
				o.prompted = true
			}
			o.command = words(cmd, args[0])
			return o.run(cmd.Context(), env, args[0])
		},
	})
	o.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.version, "version", "", "version of FoundationDB, for example 7.3.79 (required)")
	flags.StringVar(&o.redundancy, "redundancy", fdb.RedundancyDouble, "redundancy mode of the database")
	flags.StringVar(&o.engine, "storage-engine", "ssd-2", "storage engine of the database")
	flags.IntVar(&o.storage, "storage", 0, "number of storage processes")
	flags.IntVar(&o.log, "log", 0, "number of log processes")
	flags.IntVar(&o.stateless, "stateless", 0, "number of stateless processes")
	flags.StringVar(&o.volume, "volume-size", "128Gi", "size of the volume of each pod with data")
	flags.StringVar(&o.storageClass, "storage-class", "", "storage class of the volumes; if omitted, that of the Kubernetes cluster")
	flags.StringVar(&o.cpu, "cpu", "1", "requested CPU of each pod")
	flags.StringVar(&o.memory, "memory", "8Gi", "requested memory of each pod, and its limit")
	complete.Flag(cmd, "redundancy", fdb.RedundancyModes)
	complete.Flag(cmd, "storage-engine", fdb.StorageEngines)
	return cmd
}

func (o createOptions) run(ctx context.Context, env *session.Env, name string) error {
	if err := o.CheckSteps(env); err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	o.of = types.NamespacedName{Namespace: namespace, Name: name}
	objects, err := o.objects(name, namespace)
	if err != nil {
		return err
	}
	if o.prompted {
		env.Logf("the same without questions: %s", env.Command(o.command...))
	}
	if o.print {
		return printAll(env, objects)
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	if err := served(ctx, c, namespace); err != nil {
		return err
	}
	if _, err := o.install(ctx, env, c, objects); err != nil {
		return err
	}
	if o.Intent() == session.Writes {
		env.Logf("next: %s", env.Command("reconcile", name, "--wait"))
	}
	return nil
}

// served returns an error if the API server does not have the kind: what is missing then is its definition.
func served(ctx context.Context, c client.Client, namespace string) error {
	_, err := session.ClustersIn(ctx, c, namespace)
	if exit.Code(err) == exit.ExitUsage {
		return err
	}
	return nil // without the permission to list, creating the resource shows it
}

// objects returns the resource and what its pods need, once all of it is valid.
func (o createOptions) objects(name, namespace string) ([]*unstructured.Unstructured, error) {
	switch {
	case o.version == "":
		return nil, exit.Usage(errors.New("--version is required"), "kubectl fdb create --help")
	case o.storage < 0 || o.log < 0 || o.stateless < 0:
		return nil, exit.Usagef("--storage, --log and --stateless must not be negative")
	}
	for flag, quantity := range map[string]string{"--volume-size": o.volume, "--cpu": o.cpu, "--memory": o.memory} {
		if q, err := resource.ParseQuantity(quantity); err != nil || q.Sign() <= 0 {
			return nil, exit.Usagef("%s must be a quantity above 0, not %q", flag, quantity)
		}
	}
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta2.GroupVersion.String(), "kind": "FoundationDBCluster",
		"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": o.spec(),
	}}
	if err := validate(cluster); err != nil {
		return nil, exit.Usage(fmt.Errorf("invalid cluster %s: %w", name, err))
	}
	return append([]*unstructured.Unstructured{cluster}, accountObjects(namespace)...), nil
}

func checkName(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return exit.Usagef("invalid cluster name %q: %s", name, problems[0])
	}
	return nil
}

func validate(cluster *unstructured.Unstructured) error {
	typed := &v1beta2.FoundationDBCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(cluster.Object, typed, true); err != nil {
		return err
	}
	_, err := typed.Normalized()
	return err
}

func (o createOptions) spec() map[string]any {
	resources := map[string]any{
		"requests": map[string]any{"cpu": o.cpu, "memory": o.memory}, "limits": map[string]any{"memory": o.memory},
	}
	sidecar := map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "256Mi"}, "limits": map[string]any{"memory": "256Mi"}}
	claim := map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": o.volume}}}
	if o.storageClass != "" {
		claim["storageClassName"] = o.storageClass
	}
	spec := map[string]any{
		"version":               o.version,
		"databaseConfiguration": map[string]any{"redundancy_mode": o.redundancy, "storage_engine": o.engine},
		"processes": map[string]any{"general": map[string]any{
			"volumeClaimTemplate": map[string]any{"spec": claim},
			"podTemplate": map[string]any{"spec": map[string]any{
				"serviceAccountName": monitorAccount,
				"containers": []any{
					map[string]any{"name": v1beta2.ContainerMain, "resources": resources},
					map[string]any{"name": v1beta2.ContainerSidecar, "resources": sidecar},
				},
			}},
		}},
	}
	counts := map[string]any{}
	for class, n := range map[string]int{"storage": o.storage, "log": o.log, "stateless": o.stateless} {
		if n > 0 {
			counts[class] = int64(n)
		}
	}
	if len(counts) > 0 {
		spec["processCounts"] = counts
	}
	return spec
}

// accountObjects are the service account of the pods, and its permissions.
func accountObjects(namespace string) []*unstructured.Unstructured {
	named := func(kind, version string, fields map[string]any) *unstructured.Unstructured {
		fields["kind"], fields["apiVersion"] = kind, version
		fields["metadata"] = map[string]any{"name": monitorAccount, "namespace": namespace}
		return &unstructured.Unstructured{Object: fields}
	}
	const rbac = "rbac.authorization.k8s.io"
	verbs := []any{"get", "list", "watch", "update", "patch"}
	return []*unstructured.Unstructured{
		named("ServiceAccount", "v1", map[string]any{}),
		named("Role", rbac+"/v1", map[string]any{"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": verbs}}}),
		named("RoleBinding", rbac+"/v1", map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbac, "kind": "Role", "name": monitorAccount},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": monitorAccount, "namespace": namespace}},
		}),
	}
}

// suggestedVersion is the release that this program was compared with, command by command.
const suggestedVersion = "7.3.79"

// question is the prompt for a setting. The flag of the setting has the default, and the answer.
type question struct {
	flag string
	// words are the question, with what the default means.
	words string
	// otherwise is the default where the flag has none.
	otherwise string
	// check returns why an answer is invalid.
	check func(answer string) error
}

// questions are the settings that a new cluster is most often changed for. All others are flags.
var questions = []question{
	{"version", "Version of FoundationDB", suggestedVersion, func(answer string) error {
		_, err := fdb.ParseVersion(answer)
		return err
	}},
	{"redundancy", "Redundancy mode (double keeps 2 copies and survives the loss of 1 fault domain, triple 3 and 2)", "", func(answer string) error {
		if modes := fdb.RedundancyModes(); !slices.Contains(modes, answer) {
			return fmt.Errorf("must be one of %s", strings.Join(modes, ", "))
		}
		return nil
	}},
	{"storage", "Number of storage processes (0 is the default of the redundancy mode)", "", func(answer string) error {
		if n, err := strconv.Atoi(answer); err != nil || n < 0 {
			return errors.New("must be a number, 0 or more")
		}
		return nil
	}},
	{"volume-size", "Size of the volume of each pod with data", "", isQuantity},
	{"memory", "Memory of each pod (a FoundationDB process uses up to 8Gi by default)", "", isQuantity},
}

func isQuantity(answer string) error {
	if q, err := resource.ParseQuantity(answer); err != nil || q.Sign() <= 0 {
		return errors.New("must be a quantity above 0, such as 8Gi")
	}
	return nil
}

// prompts reports whether there are prompts for settings: a user is there to answer, and gave no version.
func (o createOptions) prompts(env *session.Env) bool {
	return o.version == "" && !o.Yes && env.IsTerminal(env.In) && env.IsTerminal(env.Out) && env.IsTerminal(env.ErrOut)
}

// ask sets the flags that were not given to the answers of the user.
func ask(ctx context.Context, env *session.Env, cmd *cobra.Command) error {
	for _, q := range questions {
		flag := cmd.Flags().Lookup(q.flag)
		if flag.Changed {
			continue
		}
		q.otherwise = cmp.Or(q.otherwise, flag.DefValue)
		answer, err := q.answer(ctx, env)
		if err != nil {
			return err
		}
		if err := cmd.Flags().Set(q.flag, answer); err != nil {
			return err
		}
	}
	return nil
}

// answer asks until the answer is valid.
func (q question) answer(ctx context.Context, env *session.Env) (string, error) {
	for {
		answer, err := env.Prompt().Ask(ctx, q.words, q.otherwise)
		if err != nil {
			return "", err
		}
		invalid := q.check(answer)
		if invalid == nil {
			return answer, nil
		}
		fmt.Fprintf(env.ErrOut, "invalid answer %q: %v\n", answer, invalid)
	}
}

// words returns the command with all settings that were given or answered.
func words(cmd *cobra.Command, name string) []string {
	all := []string{"create", name}
	for _, q := range questions {
		if flag := cmd.Flags().Lookup(q.flag); flag.Changed {
			all = append(all, "--"+q.flag, flag.Value.String())
		}
	}
	return all
}
