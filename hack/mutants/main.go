// Command mutants changes random lines of the packages that decide, and of those that recover a
// cluster, one at a time, and lists the changes that no test notices: make mutants N=100 SEED=1 PKG=pkg/reconcile/safety.
//
// It is our own because no maintained library draws a sample: gremlins, the one that can be
// pinned, mutates everything that is covered, takes no seed, and runs the tests of one package
// only. The others are forks of a tool that is no longer maintained.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"k8s.io/utils/clock"
)

// suites are the packages whose tests may kill a mutant, in the order of their imports.
// Those of the mutated package run first, then those of the packages behind it.
var suites = []string{
	"pkg/fdb", "pkg/reconcile/plan", "pkg/reconcile/objects", "pkg/reconcile/safety", "pkg/reconcile/readings",
	"pkg/reconcile/stages/status", "pkg/reconcile/stages/replacements", "pkg/reconcile/stages/detection",
	"pkg/reconcile/stages/cluster", "pkg/reconcile/stages/operations", "pkg/reconcile/stages/backup", "pkg/reconcile/stages/evictions",
	"pkg/reconcile/stages",
	"pkg/reconcile", "pkg/inspect", "pkg/inspect/why", "pkg/inspect/check", "pkg/ui",
	"pkg/recovery", "pkg/recovery/execute",
}

// mutated are the packages that are mutated when no package is named.
var mutated = slices.Concat(suites[:11], suites[len(suites)-2:])

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	n, workers int
	seed       uint64
	packages   []string
	own        bool
}

func parse(args []string) (options, error) {
	o := options{packages: mutated}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 20, "number of mutants")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "mutants at once")
	flags.Uint64Var(&o.seed, "seed", uint64(rand.Uint32()), "seed of the random choice; another one each time by default")
	flags.BoolVar(&o.own, "own", false, "run only the tests of the mutated package, which is fast and kills fewer")
	flags.Func("pkg", "packages to mutate, separated by commas (default "+strings.Join(mutated, ",")+")", func(s string) error {
		o.packages = strings.Split(s, ",")
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.n < 1 || o.workers < 1 || flags.NArg() > 0 {
		return o, errors.New("-n and -workers must be positive, and there are no other arguments")
	}
	for _, p := range o.packages {
		if !slices.Contains(suites, p) {
			return o, fmt.Errorf("unknown package %s: one of %s is required", p, strings.Join(suites, ", "))
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	candidates, err := chosen(".", o)
	if err != nil {
		return err
	}
	l, err := newRunner(".", o.own)
	if err != nil {
		return err
	}
	defer l.close()
	c := clock.RealClock{}
	begin := c.Now()
	fmt.Fprintf(out, "%d of %d possible mutants of %s, seed %d\n", min(o.n, len(candidates)), len(candidates), strings.Join(o.packages, ", "), o.seed)
	r, err := l.tryAll(ctx, candidates, o, out)
	if err != nil {
		return err
	}
	r.print(out, o, c.Since(begin))
	return nil
}

// chosen returns all mutations of the packages in the order of the seed.
func chosen(root string, o options) ([]mutation, error) {
	var all []mutation
	for _, p := range o.packages {
		found, err := mutationsOf(root, p)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}
