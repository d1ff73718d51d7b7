package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/control"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/machine"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// steering is a command for a running sandbox.
type steering struct {
	use, short string
	args       cobra.PositionalArgs
	handler    string // of the sandbox
	request    func(args []string) (any, error)
	print      func(cmd *cobra.Command, answer json.RawMessage) error // nil: nothing to say
}

// command makes a cobra command of it.
func (s steering) command() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: s.use, Short: s.short, Args: s.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := checkDir(dir)
			if err != nil {
				return err
			}
			request, err := s.request(args)
			if err != nil {
				return err
			}
			var answer json.RawMessage
			if err := control.Call(cmd.Context(), machine.Paths{Dir: dir}.ControlSocket(), s.handler, request, &answer); err != nil {
				return err
			}
			if s.print == nil {
				return nil
			}
			return s.print(cmd, answer)
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

func newNode() *cobra.Command {
	health := func(use, short string, h node.Health) *cobra.Command {
		return steering{use: use + " NODE", short: short, args: cobra.ExactArgs(1), handler: "node", request: func(args []string) (any, error) {
			return machine.NodeRequest{Name: args[0], Health: &h}, nil
		}}.command()
	}
	return group("node", "Stop nodes, cut them off, taint them",
		health("stop", "Stop a node and its pods", node.Stopped),
		health("start", "Start a stopped node", node.Working),
		health("cut", "Disconnect a node from the API server; its pods keep running", node.Cut),
		health("heal", "Reconnect a node that was cut off", node.Working),
		steering{
			use: "taint NODE KEY[=VALUE]:EFFECT", short: "Taint a node", args: cobra.ExactArgs(2), handler: "node",
			request: func(args []string) (any, error) {
				taint, err := parseTaint(args[1])
				return machine.NodeRequest{Name: args[0], Taint: &taint}, err
			},
		}.command(),
		steering{
			use: "untaint NODE KEY", short: "Remove a node's taints with a key", args: cobra.ExactArgs(2), handler: "node",
			request: func(args []string) (any, error) {
				return machine.NodeRequest{Name: args[0], Untaint: args[1]}, nil
			},
		}.command(),
	)
}

func parseTaint(text string) (corev1.Taint, error) {
	rest, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	if !ok || key == "" || effect == "" {
		return corev1.Taint{}, fmt.Errorf("taint %q is not KEY[=VALUE]:EFFECT", text)
	}
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, nil
}

func newPod() *cobra.Command {
	var failNamespace, healNamespace string
	fail := steering{
		use: "fail POD FAULT", short: "Make a pod fail: " + faults.PodNames, args: cobra.ExactArgs(2), handler: "pod",
		request: func(args []string) (any, error) {
			return machine.PodRequest{Namespace: failNamespace, Name: args[0], Add: args[1]}, nil
		},
	}.command()
	heal := steering{
		use: "heal POD [FAULT]", short: "Clear one fault of a pod, or all", args: cobra.RangeArgs(1, 2), handler: "pod",
		request: func(args []string) (any, error) {
			r := machine.PodRequest{Namespace: healNamespace, Name: args[0]}
			if len(args) == 2 {
				r.Remove = args[1]
			}
			return r, nil
		},
	}.command()
	namespaceFlag(fail, &failNamespace)
	namespaceFlag(heal, &healNamespace)
	return group("pod", "Make pods fail and heal", fail, heal)
}

func namespaceFlag(cmd *cobra.Command, namespace *string) {
	cmd.Flags().StringVarP(namespace, "namespace", "n", corev1.NamespaceDefault, "namespace")
}

func newVolume() *cobra.Command {
	var namespace string
	lose := steering{
		use: "lose CLAIM", short: "Destroy the data of a PVC", args: cobra.ExactArgs(1), handler: "volume",
		request: func(args []string) (any, error) {
			return machine.VolumeRequest{Namespace: namespace, Claim: args[0]}, nil
		},
		print: func(cmd *cobra.Command, answer json.RawMessage) error {
			var a machine.VolumeAnswer
			if err := json.Unmarshal(answer, &a); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "emptied %s; %d simulated data directories are lost\n", a.Volume, a.Lost)
			return nil
		},
	}.command()
	namespaceFlag(lose, &namespace)
	return group("volume", "Destroy data of volumes", lose)
}

func newDatabase() *cobra.Command {
	server := func(verb, short string) *cobra.Command {
		return steering{use: verb + " ADDRESS", short: short, args: cobra.ExactArgs(1), handler: "server", request: func(args []string) (any, error) {
			return machine.ServerRequest{Address: args[0], Do: verb}, nil
		}}.command()
	}
	return group("db", "Inject faults into simulated databases, and inspect them",
		newSlow(),
		steering{
			use: "fast DATABASE", short: "Clear a database's faults", args: cobra.ExactArgs(1), handler: "database",
			request: func(args []string) (any, error) {
				return machine.DatabaseRequest{Name: args[0], Faults: &fdbsim.Faults{}}, nil
			},
		}.command(),
		steering{
			use: "show DATABASE", short: "Print the truth about a database as JSON", args: cobra.ExactArgs(1), handler: "database",
			request: func(args []string) (any, error) { return machine.DatabaseRequest{Name: args[0]}, nil },
			print: func(cmd *cobra.Command, answer json.RawMessage) error {
				fmt.Fprintln(cmd.OutOrStdout(), string(answer))
				return nil
			},
		}.command(),
		steering{
			use: "load DATABASE SIZE", short: "Store that much user data", args: cobra.ExactArgs(2), handler: "database",
			request: func(args []string) (any, error) {
				size, err := resource.ParseQuantity(args[1])
				return machine.DatabaseRequest{Name: args[0], LoadBytes: size.Value()}, err
			},
		}.command(),
		server("kill", "Crash the server that listens on an address; its monitor starts it again"),
		server("freeze", "Stop a server from answering"),
		server("thaw", "Unfreeze a process"),
	)
}

func newSlow() *cobra.Command {
	var f fdbsim.Faults
	cmd := steering{
		use: "slow DATABASE", short: "Replace a database's faults", args: cobra.ExactArgs(1), handler: "database",
		request: func(args []string) (any, error) { return machine.DatabaseRequest{Name: args[0], Faults: &f}, nil },
	}.command()
	flags := cmd.Flags()
	flags.Int64Var(&f.MoveBytesPerSecond, "move-bytes-per-second", 0, "rate of each stream of data movement; 0 is the ordinary one")
	flags.Int64Var(&f.ClientReads, "client-reads", 0, "keys that clients read per second")
	flags.Int64Var(&f.ClientWrites, "client-writes", 0, "keys that clients write per second")
	flags.DurationVar(&f.Delay, "delay", 0, "additional latency of every command")
	flags.BoolVar(&f.StaleStatus, "stale-status", false, "If true, freeze the status document")
	flags.BoolVar(&f.PartialStatus, "partial-status", false, "status lacks what processes report about themselves")
	flags.BoolVar(&f.StatusTimeout, "status-timeout", false, "status lacks the cluster's part")
	flags.BoolVar(&f.StatusDeadline, "status-deadline", false, "status ends at its deadline: without processes, and available if the database is")
	flags.BoolVar(&f.BounceImpactLies, "bounce-impact-lies", false, "status refuses a restart of all processes whatever its recovery state is")
	flags.BoolVar(&f.FullDisks, "full-disks", false, "all disks report less free space than FoundationDB requires")
	flags.IntVar(&f.UnknownCommits, "unknown-commits", 0, "number of commits that end with an unknown result")
	flags.IntVar(&f.DropCommands, "drop-commands", 0, "number of changing commands that are cut off")
	flags.BoolVar(&f.ApplyUnknown, "apply-unknown", false, "unknown commits and dropped commands take effect")
	return cmd
}

func newAPI() *cobra.Command {
	return group("api", "Make API requests fail",
		newAPIFault("fail STATUS", "Answer requests with an HTTP status", cobra.ExactArgs(1), func(args []string) (r faults.Rule, err error) {
			r.Status, err = strconv.Atoi(args[0])
			return r, err
		}),
		newAPIFault("delay DURATION", "Delay requests", cobra.ExactArgs(1), func(args []string) (r faults.Rule, err error) {
			r.Delay, err = time.ParseDuration(args[0])
			return r, err
		}),
		newAPIFault("conflict", "Answer requests with a conflict", cobra.NoArgs, func([]string) (faults.Rule, error) {
			return faults.Rule{Status: http.StatusConflict}, nil
		}),
		steering{
			use: "clear", short: "Let all requests through", args: cobra.NoArgs, handler: "api",
			request: func([]string) (any, error) { return machine.APIRequest{Clear: true}, nil },
		}.command(),
	)
}

func newAPIFault(use, short string, args cobra.PositionalArgs, rule func(args []string) (faults.Rule, error)) *cobra.Command {
	var match faults.Rule
	cmd := steering{use: use, short: short, args: args, handler: "api", request: func(args []string) (any, error) {
		r, err := rule(args)
		if err != nil {
			return nil, err
		}
		r.Verb, r.Resource, r.Name, r.Remaining = match.Verb, match.Resource, match.Name, match.Remaining
		return machine.APIRequest{Add: &r}, r.Check()
	}}.command()
	flags := cmd.Flags()
	flags.StringVar(&match.Verb, "verb", "", "only this HTTP verb (GET, POST, PUT, PATCH, DELETE)")
	flags.StringVar(&match.Resource, "resource", "", "only paths with this word, such as pods or exec")
	flags.StringVar(&match.Name, "name", "", "only this object")
	flags.IntVar(&match.Remaining, "times", 0, "only so many requests; 0 is all until cleared")
	return cmd
}

func newTime() *cobra.Command {
	var speed float64
	cmd := steering{
		use: "time --speed X", short: "Change how fast time passes for simulated databases", args: cobra.NoArgs, handler: "speed",
		request: func([]string) (any, error) { return speed, nil },
	}.command()
	cmd.Flags().Float64Var(&speed, "speed", 1, "seconds per real second")
	if err := cmd.MarkFlagRequired("speed"); err != nil {
		panic(err) // the flag is two lines above
	}
	return cmd
}
