package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// single has one copy of the data and one coordinator, so that two fault domains are enough. It
// has fewer pods than the sandbox has nodes.
const single = "processCounts: {storage: 4, log: 1, stateless: 1}\ndatabaseConfiguration: {redundancy_mode: single}\n"

// packedPod is where a pod runs, and with which distribution key.
type packedPod struct{ name, key, node string }

func packedPods(t *testing.T, ns, name string) []packedPod {
	t.Helper()
	var pods []packedPod
	for line := range strings.Lines(get(t, ns, `{range .items[*]}{.metadata.name},{.metadata.labels.foundationdb\.org/distribution-key},{.spec.nodeName}{"\n"}{end}`,
		"pods", "-l", "foundationdb.org/fdb-cluster-name="+name)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		pods = append(pods, packedPod{fields[0], fields[1], fields[2]})
	}
	return pods
}

// wantPacked fails the test unless the pods of a cluster have these distribution keys, those of
// one key share a node, and two keys of a pack do not.
func wantPacked(t *testing.T, ns, name string, keys ...string) {
	t.Helper()
	nodeOf, keyOf := map[string]string{}, map[string]string{}
	for _, p := range packedPods(t, ns, name) {
		if node, seen := nodeOf[p.key]; seen && node != p.node {
			t.Errorf("pods with the key %s run on %s and on %s", p.key, node, p.node)
		}
		place := p.key[:strings.LastIndex(p.key, "-")+1] + p.node
		if key, seen := keyOf[place]; seen && key != p.key {
			t.Errorf("pods with the keys %s and %s share node %s", key, p.key, p.node)
		}
		nodeOf[p.key], keyOf[place] = p.node, p.key
	}
	if got := slices.Sorted(maps.Keys(nodeOf)); !slices.Equal(got, keys) {
		t.Errorf("distribution keys %q, want %q", got, keys)
	}
}

// A new cluster comes up packed by the real scheduler, which would give each pod a node of its own.
func TestANewClusterIsPackedIntoItsDesiredFaultDomains(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", single+"distributionConfig: {enabled: true, desiredFaultDomains: 2}\n"))
	reconciled(t, ns)
	wantPacked(t, ns, "c", "log-0", "stateless-0", "storage-0", "storage-1")
	r := fdb(t, "status", "c", "-n", ns)
	want(t, r, 0)
	shows(t, r, "2 of 2 fault domains, log 1, stateless 1, storage 2/2")
	want(t, fdb(t, "check", "c", "-n", ns, "--rules", "TOPO-003", "--fail-on", "info"), 0)
	writesNothing(t, ns, "c")
}

// Two clusters of a namespace need more fault domains together than there are nodes. The terms of
// one do not select the pods of the other, or some of the pods would stay Pending.
func TestPackedClustersShareNodes(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, name := range []string{"c", "d"} {
		apply(t, ns, cluster(name, single+"distributionConfig: {enabled: true, desiredFaultDomains: 4, binPack: All, required: true}\n"))
		want(t, fdb(t, "reconcile", name, "-n", ns, "--wait", "--yes"), 0)
	}
	for _, name := range []string{"c", "d"} {
		wantPacked(t, ns, name, "all-0", "all-1", "all-2", "all-3")
	}
}

// With required fault domains, a pod for which its fault domain has no room stays Pending, and the
// reason names the fault domain. Two pods with one port of the host do not fit on one node.
func TestWhyExplainsAPendingPodWithoutRoomInItsFaultDomain(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, strings.Replace(cluster("c", single+"distributionConfig: {enabled: true, desiredFaultDomains: 3, required: true}\n"),
		"          - name: foundationdb\n", "          - name: foundationdb\n            ports: [{containerPort: 9911, hostPort: 19911}]\n", 1))
	var pending []packedPod
	for range attempts { // on a busy machine pods are created and volumes bound late
		want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", "20s", "--interval", "2s"), waits)
		all := packedPods(t, ns, "c")
		pending = slices.DeleteFunc(slices.Clone(all), func(p packedPod) bool { return p.node != "" })
		if len(all) == 6 && len(pending) == 1 {
			break
		}
	}
	if len(pending) != 1 || pending[0].key != "storage-0" {
		t.Fatalf("pending: %v, want one of storage-0", pending)
	}
	r := fdb(t, "why", "c", "-n", ns)
	want(t, r, no)
	shows(t, r, "spec.distributionConfig.required lets it run only in ")
	shows(t, r, "with the other pods of the distribution key storage-0")
}

// A cluster that exists is packed, packed differently, and unpacked. What the plan forecasts
// before it is approved is what happens.
func TestAnExistingClusterIsPackedAndUnpacked(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", single+"automationOptions: {podUpdateStrategy: Delete, deletionMode: All, removalMode: All, waitBetweenRemovalsSeconds: 0}\n"))
	reconciled(t, ns)

	patch(t, ns, `{"distributionConfig":{"enabled":true,"desiredFaultDomains":2,"required":true}}`)
	if replaced := packsAsForecast(t, ns); replaced != 6 {
		t.Errorf("%d process groups were replaced to pack a cluster that was not, want all 6", replaced)
	}
	wantPacked(t, ns, "c", "log-0", "stateless-0", "storage-0", "storage-1")

	patch(t, ns, `{"distributionConfig":{"desiredFaultDomains":4}}`)
	if replaced := packsAsForecast(t, ns); replaced == 0 {
		t.Error("no process group was replaced for two more fault domains")
	}
	var storage []string
	for _, p := range packedPods(t, ns, "c") {
		if strings.HasPrefix(p.key, "storage-") {
			storage = append(storage, p.key)
		}
	}
	if slices.Sort(storage); !slices.Equal(storage, []string{"storage-0", "storage-1", "storage-2", "storage-3"}) {
		t.Errorf("storage pods have the keys %v, want each of 4 once", storage)
	}

	claims, groups := volumes(t, ns), processGroups(t, ns)
	patch(t, ns, `{"distributionConfig":{"enabled":false}}`)
	if got := forecast(t, ns); got != nil {
		t.Errorf("the forecast of the end of the packing is %v, want none", got)
	}
	reconciled(t, ns)
	if got := processGroups(t, ns); !slices.Equal(got, groups) || volumes(t, ns) != claims {
		t.Errorf("process groups %v, before %v; PVCs:\n%s, before:\n%s", got, groups, volumes(t, ns), claims)
	}
	for _, p := range packedPods(t, ns, "c") {
		if p.key != "" {
			t.Errorf("%s still has the distribution key %s", p.name, p.key)
		}
	}
	if affinity := get(t, ns, "{.items[*].spec.affinity.podAffinity}", "pods"); affinity != "" {
		t.Errorf("pods still have an affinity: %s", affinity)
	}
	writesNothing(t, ns, "c")
}

// packsAsForecast makes the passes that pack a cluster, and returns how many process groups they
// replaced. It fails the test unless that and the most pods at once are as the plan forecasts.
func packsAsForecast(t *testing.T, ns string) (replaced int) {
	t.Helper()
	told, before := forecast(t, ns), processGroups(t, ns)
	if told == nil {
		t.Fatal("the plan has no forecast")
	}
	most := mostPods(t, ns, len(before))
	reconciled(t, ns)
	after := processGroups(t, ns)
	for _, id := range before {
		if !slices.Contains(after, id) {
			replaced++
		}
	}
	if got := []int{replaced, len(before), len(before) - replaced, most()}; !slices.Equal(got, told) {
		t.Errorf("replaced, of all, stayed, pods at once: %v, the plan forecasts %v", got, told)
	}
	return replaced
}

var forecastPattern = regexp.MustCompile(`(\d+) of (\d+) process groups? (?:is|are) replaced to pack pods into \d+ fault domains?, (\d+) stays?; up to (\d+) pods at once`)

// forecast returns the numbers of the plan: how many process groups are replaced, of how many, how
// many stay, and the most pods at once; nil if none is replaced for the packing.
func forecast(t *testing.T, ns string) []int {
	t.Helper()
	r := fdb(t, "plan", "c", "-n", ns)
	want(t, r, 1)
	found := forecastPattern.FindStringSubmatch(r.stdout)
	if found == nil {
		return nil
	}
	var numbers []int
	for _, text := range found[1:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func processGroups(t *testing.T, ns string) []string {
	t.Helper()
	return strings.Fields(get(t, ns, "{.status.processGroups[*].processGroupID}", "fdb", "c"))
}

// mostPods watches the pods of a namespace, of which there are some now, until the returned
// function is called: it returns the most that existed at once.
func mostPods(t *testing.T, ns string, now int) func() int {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "get", "pods", "-n", ns, "--watch", "--output-watch-events", "-o", "json")
	cmd.Env = environment(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	counted, listed := make(chan int, 1), make(chan struct{})
	go func() {
		counted <- countPods(json.NewDecoder(out), now, listed)
		_ = cmd.Wait() // ended below, or reported as a count of 0
	}()
	select {
	case <-listed:
	case <-counted:
		t.Fatal("the watch of the pods ended at once")
	}
	return func() int {
		select {
		case most := <-counted:
			t.Errorf("the watch of the pods ended early, after %d", most)
			return most
		default:
			end()
			return <-counted
		}
	}
}

// countPods returns the most pods that exist at once, by the events of a watch, once that ends. It
// closes listed when it has seen the first ones.
func countPods(events *json.Decoder, first int, listed chan<- struct{}) (most int) {
	pods := map[string]bool{}
	for {
		var event struct {
			Type   string
			Object struct{ Metadata struct{ UID string } }
		}
		if err := events.Decode(&event); err != nil {
			return most
		}
		if event.Type == "DELETED" {
			delete(pods, event.Object.Metadata.UID)
		} else {
			pods[event.Object.Metadata.UID] = true
		}
		if most < first && len(pods) == first {
			close(listed)
		}
		most = max(most, len(pods))
	}
}

// A packing that cannot work is one error that names the field, its value and the remedy, and no
// process group, pod or PVC is changed for it.
func TestAnImpossibleDistributionConfigIsRefused(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	reconciled(t, ns)
	const annotation = `{"metadata":{"annotations":{"kubectl-fdb/distribution-config":%q}}}`
	tests := []struct {
		name, patch string
		code        int
		says        []string
	}{
		{
			"fewer fault domains than coordinators", `{"spec":{"distributionConfig":{"enabled":true,"desiredFaultDomains":2}}}`, 4,
			[]string{"spec.distributionConfig.desiredFaultDomains is 2, 3 required", "raise desiredFaultDomains, disable it, or override G-CONFIG"},
		},
		{
			"no fault domains", `{"spec":{"distributionConfig":{"enabled":true}}}`, 2,
			[]string{"spec.distributionConfig.desiredFaultDomains: Required value: must be at least 1"},
		},
		{
			"fault domains that are no nodes", `{"spec":{"distributionConfig":{"enabled":true,"desiredFaultDomains":3},"faultDomain":{"key":"foundationdb.org/none"}}}`, 2,
			[]string{`spec.faultDomain.key: Invalid value: "foundationdb.org/none": must be a label of nodes`},
		},
		{
			"a template that sets the label", `{"spec":{"distributionConfig":{"enabled":true,"desiredFaultDomains":3},"labels":{"resourceLabels":{"foundationdb.org/distribution-key":"x"}}}}`, 2,
			[]string{`spec.labels.resourceLabels[foundationdb.org/distribution-key]: Invalid value: "x": must not be set`},
		},
		{
			"an annotation that is no JSON", fmt.Sprintf(annotation, "three"), 2,
			[]string{`metadata.annotations[kubectl-fdb/distribution-config]: Invalid value: "three": must be the JSON of spec.distributionConfig`},
		},
		{
			"an unknown packing", fmt.Sprintf(annotation, `{"enabled":true,"desiredFaultDomains":3,"binPack":"Most"}`), 2,
			[]string{`spec.distributionConfig.binPack: Unsupported value: "Most": supported values: "All", "Stateful", "Class"`},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			unchanged, groups := uids(t, ns), processGroups(t, ns)
			kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", tc.patch)
			r := fdb(t, "reconcile", "c", "-n", ns, "--yes")
			want(t, r, tc.code)
			prints(t, result{stderr: r.stdout + r.stderr}, tc.says...)
			if n := strings.Count(r.stderr, "rror: "); n > 1 || (n == 0) == (tc.code == 2) {
				t.Errorf("%d errors:\n%s", n, r.stderr)
			}
			if got := processGroups(t, ns); !slices.Equal(got, groups) || uids(t, ns) != unchanged {
				t.Errorf("process groups %v, before %v; objects:\n%s, before:\n%s", got, groups, uids(t, ns), unchanged)
			}
			if marked := get(t, ns, "{.status.processGroups[*].removalTimestamp}", "fdb", "c"); marked != "" {
				t.Errorf("process groups are marked for removal: %s", marked)
			}
			kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p",
				`{"metadata":{"annotations":{"kubectl-fdb/distribution-config":null}},"spec":{"distributionConfig":null,"faultDomain":null,"labels":null}}`)
		})
	}
	if r := run(t, "kubectl", "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":{"distributionConfig":{"binPack":"Most"}}}`); r.code == 0 || !strings.Contains(r.stderr, "spec.distributionConfig.binPack: Unsupported value") {
		t.Errorf("the API server accepts an unknown packing: exit code %d\n%s", r.code, r.stderr)
	}
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes"), 0)
	writesNothing(t, ns, "c")
}
