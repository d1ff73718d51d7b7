package bench

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	namespace = "bench"
	selector  = "foundationdb.org/fdb-cluster-name=" + clusterName
)

// ready is a sandbox with a cluster of so many groups in which nothing is to be done.
func ready(tb testing.TB, groups int) (*box, *benchCluster) {
	tb.Helper()
	b, c := newBox(tb), stableCluster(tb, namespace, groups, realNode)
	b.furnish(tb, c)
	const tries = 5
	for range tries {
		if o := b.fdb(tb, "reconcile", clusterName, "--yes"); o.code == 0 {
			return b, c
		}
		time.Sleep(time.Second)
	}
	tb.Fatalf("there is always something to do:\n%s", tail(b.fdb(tb, "plan", clusterName).stdout))
	return b, c
}

func (b *box) fdb(tb testing.TB, args ...string) outcome {
	tb.Helper()
	return b.run(tb, "kubectl-fdb", append(args, "-n", namespace)...)
}

// contestants are commands that are measured side by side: in turns, so that the machine's
// other work falls upon all of them.
type contestants map[string][]string

// bestOf is the shortest run of each. Other work makes runs longer and never shorter.
func (b *box) bestOf(tb testing.TB, all contestants) map[string]time.Duration {
	tb.Helper()
	const rounds = 7
	best := map[string]time.Duration{}
	for range rounds {
		for _, name := range sortedNames(all) {
			took := b.must(tb, all[name][0], all[name][1:]...).took
			if known, seen := best[name]; !seen || took < known {
				best[name] = took
			}
		}
	}
	return best
}

func sortedNames(all contestants) []string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// statusRead is one status document that is read through the same pod.
func statusRead(c *benchCluster) []string {
	return []string{"kubectl", "exec", "-n", namespace, c.requested.Name, "-c", "foundationdb", "--", "fdbcli", "--exec", "status json"}
}

// A pass with nothing to do, beside a plain list of the same objects and one status read.
func BenchmarkPassOf1000WithNothingToDo(b *testing.B) {
	sandbox, c := ready(b, 1000)
	for b.Loop() {
		best := sandbox.bestOf(b, contestants{
			"pass": {"kubectl-fdb", "reconcile", clusterName, "-n", namespace, "--yes"},
			"list": {"kubectl", "get", "pods,pvc,services,configmaps", "-n", namespace, "-l", selector, "-o", "json"},
			"read": statusRead(c),
		})
		b.ReportMetric(best["pass"].Seconds(), "pass-s")
		b.ReportMetric((best["list"] + best["read"]).Seconds(), "kubectl-s")
		b.ReportMetric(float64(best["pass"])/float64(best["list"]+best["read"]), "pass/kubectl")
	}
}

// Reading 500 pods, compared with a plain list of them and one status read; and the time of
// shell completion.
func BenchmarkStatusOf500(b *testing.B) {
	sandbox, c := ready(b, 500)
	tab := []string{"kubectl-fdb", "__complete", "status", "-n", namespace, ""}
	tabOfIDs := []string{"kubectl-fdb", "__complete", "exclusion", "status", clusterName, "-n", namespace, ""}
	for want, words := range map[string][]string{clusterName: tab, string(c.group.ProcessGroupID): tabOfIDs} {
		if offered := sandbox.must(b, words[0], words[1:]...).stdout; !strings.Contains(offered, want+"\n") {
			b.Fatalf("%q does not offer %s:\n%s", words, want, tail(offered))
		}
	}
	for b.Loop() {
		best := sandbox.bestOf(b, contestants{
			"status": {"kubectl-fdb", "status", clusterName, "-n", namespace},
			"list":   {"kubectl", "get", "pods", "-n", namespace, "-l", selector, "-o", "json"},
			"read":   statusRead(c),
			"tab":    tab,
			"tab-id": tabOfIDs,
		})
		b.ReportMetric(sandbox.firstLook(b, c).Seconds(), "first-look-s")
		b.ReportMetric(best["status"].Seconds(), "status-s")
		b.ReportMetric((best["list"] + best["read"]).Seconds(), "kubectl-s")
		b.ReportMetric(float64(best["status"])/float64(best["list"]+best["read"]), "status/kubectl")
		b.ReportMetric(float64(best["tab"].Milliseconds()), "tab-ms")
		b.ReportMetric(float64(best["tab-id"].Milliseconds()), "tab-of-ids-ms")
	}
}

// firstLook is after how long the data of Kubernetes is printed, up to the last section,
// when the database does not answer.
func (b *box) firstLook(tb testing.TB, c *benchCluster) time.Duration {
	tb.Helper()
	b.replaceProgram(tb, "fdbcli", "#!/bin/sh\nexec sleep 60\n")
	defer b.replaceProgram(tb, "fdbcli", fakeCLI)
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	cmd := b.command(ctx, "kubectl-fdb", "status", clusterName, "-n", namespace)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), "pods are ready") {
			return time.Since(begun)
		}
	}
	tb.Fatalf("nothing is shown of %s without its database", c.Resource.Name)
	return 0
}
