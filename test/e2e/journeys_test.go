package e2e

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// journey is how a page of the documentation is followed.
type journey struct {
	// prepare brings about what the page takes for granted; nil for nothing.
	prepare func(*testing.T, *walk)
	// codes are the exit codes of a command, one for each time that the page has it;
	// 0 for all that are not here.
	codes map[string][]int
	// alsoCodes are the exit codes that commands may have instead, because of what other tests do at the same time.
	alsoCodes map[string]int
	// rests are how long to wait before a command, as documented on the page.
	rests map[string]time.Duration
	// recovered are commands that the page runs once the last recovery of the database is so long ago, by the
	// clock of the database.
	recovered map[string]time.Duration
	// prints is true for a page whose commands must print what it shows, on a terminal of 80 columns.
	prints bool
	// leaveOut are commands that are not run, and why.
	leaveOut map[string]string
	// instead are pairs of a documented command and what is run, where a test cannot
	// do what a user does.
	instead []string
}

const (
	noPrometheusOperator = "the sandbox has no Prometheus operator"
	endless              = "has no end; TestAWatchReconcilesAndServesMetricsUntilTerminated runs one"
	onATerminal          = "needs a terminal; TestTheDashboardShowsEveryPaneAndReplacesAProcessGroup has one"
	ownSandbox           = "all tests share one sandbox, which is there already"
	plan                 = "kubectl fdb plan sample-cluster"
	asksAUser            = 7
	no                   = 1
	mistake              = 2
	notKnown             = 8
	waits                = 3
	cutShort             = 124 // what timeout(1) ends with
)

// journeys are all pages that tell commands.
var journeys = map[string]journey{
	"docs/tutorial.md": {
		prepare: demo,
		prints:  true,
		codes: map[string][]int{
			plan: {0}, plan + " --set processCounts.storage=5": {1}, plan + " --unset processCounts": {1},
			"kubectl fdb reconcile sample-cluster < /dev/null": {asksAUser},
		},
		leaveOut: map[string]string{
			"make demo":      ownSandbox,
			"make demo-stop": ownSandbox,
			"export KUBECONFIG=$PWD/.sandbox/kubeconfig PATH=$PWD/bin:$PATH": ownSandbox,
			"fdb-sandbox time --dir .sandbox --speed 20":                     "time passes ten times faster already, for all tests",
			"fdb-sandbox time --dir .sandbox --speed 1":                      "time passes ten times faster, for all tests",
		},
	},
	"docs/reconcile.md": {
		prepare:  up(counts),
		codes:    map[string][]int{"kubectl fdb reconcile sample-cluster": {asksAUser}},
		leaveOut: map[string]string{"kubectl fdb reconcile sample-cluster --yes --watch": endless},
	},
	"docs/plan.md": {
		prepare: withAManifest,
		codes: map[string][]int{
			"kubectl fdb plan -f sample-cluster.yaml": {1}, "kubectl fdb plan -f sample-cluster.yaml -o json > plan.json": {1},
			"kubectl fdb plan sample-cluster --set version=7.4.6": {1}, "kubectl fdb plan sample-cluster --set processCounts.storage=5 --simulate 5": {1}, "kubectl fdb plan sample-cluster --set processCounts.storage=5 --simulate all": {1},
			"kubectl fdb reconcile sample-cluster --plan plan.json --yes":                                                 {waits},
			"kubectl fdb reconcile sample-cluster --set processCounts.storage=6 --wait --dry-run -o json > approved.json": {1},
		},
	},
	"docs/backup.md": {
		prepare: up(counts),
		codes: map[string][]int{
			"kubectl fdb plan -f manifests/examples/sandbox-backup.yaml":          {no},
			"kubectl fdb plan -f restore.yaml":                                    {no},
			"kubectl fdb backup describe nightly":                                 {0, no},
			"kubectl fdb backup delete nightly --dry-run -o json > deletion.json": {no},
		},
	},
	"docs/check.md": {
		prepare: upWithMemory,
		// Names count as not checked while other tests make programs start slowly in pods.
		alsoCodes: map[string]int{
			"kubectl fdb check sample-cluster": notKnown,
			`kubectl fdb check sample-cluster --skip CERT="the certificates are renewed by the platform"`:  notKnown,
			`kubectl fdb check sample-cluster --fail-on warning --skip POD-005="nodes never restart"`:      notKnown,
			"kubectl fdb check sample-cluster --fail-on error -o junit > check.xml":                        notKnown,
			`kubectl fdb check sample-cluster --skip POD-005="nodes never restart" -o sarif > check.sarif`: notKnown,
			"kubectl fdb check sample-cluster -o markdown > check.md":                                      notKnown,
		},
		leaveOut: map[string]string{"kubectl fdb check -A -o junit > all.xml": "checks the clusters of all other tests, and ends as the worst of them"},
	},
	"docs/coordinators.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up("processCounts: {storage: 3, log: 4, stateless: 3}\n")(t, p)
			p.ids["log-22297"] = p.must(t, `kubectl fdb get coordinators sample-cluster -o 'jsonpath={.items[0].processGroup}'`)
		},
		codes: map[string][]int{"kubectl fdb connection-string drift sample-cluster": {no}},
	},
	"docs/gc.md":       {prepare: up(counts)},
	"docs/recovery.md": {prepare: up(counts)},
	"docs/support.md":  {prepare: up(counts)},
	"docs/dumps.md": {
		prepare: up(counts),
		codes: map[string][]int{
			"kubectl fdb reconcile sample-cluster --from sample.tar.zst": {mistake},
		},
		// Nodes belong to all tests, and the taints that others set meanwhile are differences.
		alsoCodes: map[string]int{"kubectl fdb dump diff sample.tar.zst": no},
	},
	"docs/logs.md": {prepare: up(counts)},
	"docs/failure-detection.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts)(t, p)
			installHere(t, p)
		},
	},
	"docs/bin-packing.md": {
		prepare: up(counts + "automationOptions: {removalMode: All, waitBetweenRemovalsSeconds: 0}\n"),
		codes:   map[string][]int{plan + " --set 'distributionConfig={enabled: true, desiredFaultDomains: 3}'": {1}},
	},
	"docs/grow-and-shrink.md": {
		prepare: up(counts + "automationOptions: {waitBetweenRemovalsSeconds: 0}\n"),
		codes: map[string][]int{
			plan + " --set processCounts.storage=5": {1}, plan + " --set processCounts.storage=3": {1}, plan: {0},
		},
	},
	"docs/maintenance.md": {prepare: oneOfSeveral},
	"docs/inspect.md": {
		prepare: up(counts),
		codes:   map[string][]int{"kubectl fdb exclusion status sample-cluster": {1}},
		leaveOut: map[string]string{
			"kubectl fdb exclusion status sample-cluster -w":       endless,
			"kubectl fdb status sample-cluster -w":                 endless,
			"kubectl fdb events sample-cluster --types Warning -w": endless,
			"kubectl fdb status -A":                                "shows the clusters of all other tests, and ends as the worst of them",
		},
	},
	"docs/workload.md": {
		prepare: up(counts),
		rests:   map[string]time.Duration{"kubectl fdb why sample-cluster --performance": time.Minute},
	},
	"docs/replacements.md": {
		prepare: up("processCounts: {storage: 4, log: 3, stateless: 3}\n"),
		codes: map[string][]int{
			plan + " --set 'processGroupsToRemove=[storage-29558]'": {1}, "kubectl fdb replace sample-cluster storage-71671 --dry-run": {1},
			"kubectl fdb replace sample-cluster storage-61238 --skip-exclusion --dry-run -o json > going.json": {1},
		},
		recovered: map[string]time.Duration{"kubectl fdb replace sample-cluster storage-61238 --skip-exclusion --dry-run -o json > going.json": 3 * time.Minute},
	},
	"docs/restarts.md": {
		prepare: up(counts + quick),
		codes:   map[string][]int{"kubectl fdb restart sample-cluster --class storage --dry-run": {1}},
	},
	"docs/exclusions.md": {
		prepare: up(counts),
		codes:   map[string][]int{"kubectl fdb exclude sample-cluster storage-71671 --dry-run": {1}},
	},
	"docs/rollouts.md": {
		prepare: up(counts + quick + allAtOnce),
		codes: map[string][]int{
			plan + " --set 'processes.general.customParameters=[knob_min_available_space_ratio=0.01]'":                            {1},
			plan + " --set 'processes.storage.podTemplate.spec.containers=[{name: foundationdb, env: [{name: TZ, value: UTC}]}]'": {1},
			plan + " --set automationOptions.podUpdateStrategy=Delete --set 'mainContainer.imageConfigs=[{baseImage: registry.example.com/mirror/fdb-kubernetes-monitor}]' --set 'sidecarContainer.imageConfigs=[{baseImage: registry.example.com/mirror/fdb-kubernetes-monitor}]'": {1},
		},
	},
	"docs/transport.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts)(t, p)
			p.env = forClients()
		},
	},
	"docs/upgrades.md": {
		prepare:   up(counts + quick + allAtOnce),
		codes:     map[string][]int{plan + " --set version=7.3.80": {1}, plan + " --set version=7.4.6": {1}},
		recovered: map[string]time.Duration{plan + " --set version=7.4.6": 350 * time.Second},
	},
	"docs/tls.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts+quick+allAtOnce)(t, p)
			certificate(t, p.dir)
			p.manifestWith(t, "sample-cluster.yaml", counts+quick+allAtOnce)
		},
		codes: map[string][]int{"kubectl fdb plan -f sample-cluster.yaml": {1}, plan + " --set mainContainer.enableTls=true": {1}},
	},
	"docs/taints.md": {prepare: onANodeToBeEmptied},
	"docs/node-maintenance.md": {
		prepare: onANodeOfItsOwn,
		codes:   map[string][]int{"kubectl fdb drain node-3 -c sample-cluster --dry-run": {1}},
	},
	"docs/runbooks.md": {
		prepare: up(counts),
		codes: map[string][]int{
			"kubectl fdb replace sample-cluster storage-71671 --dry-run":                    {1},
			"kubectl fdb run roll-out-change --var cluster=sample-cluster --state run.json": {asksAUser},
		},
		recovered: map[string]time.Duration{"kubectl fdb can replace sample-cluster storage-71671": 150 * time.Second},
	},
	"docs/runbook-files.md": {prepare: up(counts)},
	"docs/takeover.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts)(t, p)
			p.must(t, "kubectl annotate pods,pvc --all --overwrite foundationdb.org/last-applied-spec=theirs")
		},
		codes: map[string][]int{plan: {1}, plan + " --adopt": {1}},
	},
	"docs/why.md": {
		prepare: up(counts),
		codes: map[string][]int{
			"kubectl fdb reconcile sample-cluster --set 'buggify.noSchedule=[storage-30166]' --yes": {waits},
			"kubectl fdb reconcile sample-cluster --yes":                                            {waits},
			"kubectl fdb why sample-cluster":                                                        {0, no, no},
			"kubectl fdb why sample-cluster storage-66564":                                          {no},
			"kubectl fdb why sample-cluster -o json":                                                {no},
			"kubectl fdb why sample-cluster -o wide":                                                {no},
			"kubectl fdb can delete sample-cluster pod/sample-cluster-storage-67438":                {no},
		},
	},
	"docs/regions.md": {prepare: twoDataCenters, codes: map[string][]int{"kubectl fdb plan -f sample-clusters.yaml": {1}}},
	"docs/dashboard.md": {
		prepare: up(counts),
		instead: []string{"timeout 10 ", "timeout 60 "}, // a recording needs one frame
		codes: map[string][]int{
			"timeout 10 kubectl fdb watch sample-cluster --plain --record night.ndjson.zst": {cutShort},
			"timeout 10 kubectl fdb watch sample-cluster --plain":                           {cutShort},
		},
		leaveOut: map[string]string{
			"kubectl fdb watch":                                onATerminal,
			"kubectl fdb watch -A":                             onATerminal,
			"kubectl fdb watch sample-cluster":                 onATerminal,
			"kubectl fdb watch sample-cluster --allow-actions": onATerminal,
			"kubectl fdb watch sample-cluster --reconcile":     onATerminal,
			"kubectl fdb watch --replay night.ndjson.zst":      onATerminal,
		},
	},
	"docs/commands.md": {prepare: up(counts)},
	"docs/eviction-webhook.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up("")(t, p)
			atTheEnd(t, "kubectl", "delete", "namespace", "kubectl-fdb-webhook", "--wait=false")
		},
		leaveOut: map[string]string{
			"kubectl apply -f manifests/eviction-webhook/certificate.yaml":        "the sandbox has no cert-manager",
			"kubectl label namespace fdb kubectl-fdb/eviction-webhook=enabled":    "the webhook's image does not exist, so that evictions there would fail; TestKubectlDrainFollowsTheEvictionWebhook runs one",
			"kubectl apply -f manifests/eviction-webhook/configuration-fail.yaml": "the same",
		},
	},
	"docs/watch.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts)(t, p)
			installHere(t, p)
		},
		codes:    map[string][]int{"kubectl fdb reconcile sample-cluster --watch": {asksAUser}},
		leaveOut: map[string]string{"kubectl fdb reconcile sample-cluster --watch --yes -o json": endless},
	},
	"docs/observe.md": {
		prepare: func(t *testing.T, p *walk) {
			t.Helper()
			up(counts)(t, p)
			installHere(t, p)
		},
		leaveOut: map[string]string{
			"kubectl apply -n fdb -f manifests/observe/exporter-pod-monitor.yaml":                                  noPrometheusOperator,
			"kubectl apply -n fdb -f manifests/observe/pod-monitor.yaml -f manifests/observe/prometheus-rule.yaml": noPrometheusOperator,
			"kubectl label -n fdb podmonitor,prometheusrule kubectl-fdb release=kube-prometheus-stack":             noPrometheusOperator,
		},
	},
}

// installNamespace creates the namespace of the pages that install something in the cluster.
var installNamespace sync.Once

// installHere creates that namespace. Several pages install into it at the same time, so none of them
// deletes it; it ends with the sandbox.
func installHere(t *testing.T, p *walk) {
	t.Helper()
	installNamespace.Do(func() { p.must(t, "kubectl create namespace fdb") })
}

// longest are the pages that take minutes, the longest first. They begin before the others: one of these at the end
// would run alone.
var longest = []string{"upgrades", "tls", "plan", "rollouts", "dashboard", "regions", "bin-packing", "replacements", "transport", "taints", "maintenance", "runbooks", "tutorial"}

// readers are the pages that change nothing of their cluster. They share one, since its creation takes longer than most of
// them; each has a directory of its own.
var readers = []string{"docs/dumps.md", "docs/gc.md", "docs/logs.md", "docs/recovery.md", "docs/runbook-files.md", "docs/support.md", "docs/workload.md"}

// rounds are all pages in the order of their beginning; those of a round follow each other.
func rounds() [][]string {
	rank := func(name string) int {
		if i := slices.Index(longest, strings.TrimSuffix(filepath.Base(name), ".md")); i >= 0 {
			return i
		}
		return len(longest)
	}
	rounds := [][]string{readers}
	for _, name := range slices.SortedFunc(maps.Keys(journeys), func(x, y string) int {
		return cmp.Or(rank(x)-rank(y), strings.Compare(x, y))
	}) {
		if !slices.Contains(readers, name) {
			rounds = append(rounds, []string{name})
		}
	}
	return rounds
}

// A page that was renamed would begin whenever it comes.
func TestTheLongestPagesExist(t *testing.T) {
	for _, name := range longest {
		if _, exists := journeys["docs/"+name+".md"]; !exists {
			t.Errorf("no test follows docs/%s.md", name)
		}
	}
	for _, name := range readers {
		if _, exists := journeys[name]; !exists {
			t.Errorf("no test follows %s", name)
		}
	}
}

// Users will follow any page with commands. The examples on the generated pages of
// docs/commands are those of --help, which TestHelpExamplesOfEveryCommandAreValid runs.
func TestEveryDocsPageWithCommandsHasATest(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("found %d pages: %v", len(names), err)
	}
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		known := strings.TrimPrefix(name, "../../")
		if _, followed := journeys[known]; !followed && len(commandsOf(string(text))) > 0 {
			t.Errorf("no test follows %s, which has commands: %q", known, commandsOf(string(text)))
		}
	}
}

func TestCommandsAreExtractedFromDocsPages(t *testing.T) {
	const text = "Text\n```sh\n# a comment\none --flag   # and why\ntwo \\\n  --more '{\"a\":\"#b\"}'\n\n```\n" +
		"```console\n$ three\nits output\n```\n```\nnone\n```\n```yaml\nnone: 1\n```\n"
	want := []string{"one --flag", `two   --more '{"a":"#b"}'`, "three"}
	if got := commandsOf(text); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}

const bringUp = "kubectl fdb reconcile %s --wait --yes"

// allAtOnce recreates all pods at once. One by one takes a minute for each here, because a
// database's time, and so the age of its processes, runs faster than that of their pods.
// TestStoragePodsAreRecreatedZoneByZone has that patience.
const allAtOnce = "automationOptions: {podUpdateStrategy: Delete, deletionMode: All}\n"

// up brings up the cluster that the pages speak of, with more in its spec.
func up(more string) func(*testing.T, *walk) {
	return func(t *testing.T, p *walk) {
		t.Helper()
		apply(t, p.ns, cluster("sample-cluster", more))
		p.must(t, fmt.Sprintf(bringUp, "sample-cluster"))
	}
}

// withAManifest brings up a cluster, and writes a manifest of it with one more storage process.
func withAManifest(t *testing.T, p *walk) {
	t.Helper()
	up(counts)(t, p)
	p.write(t, "sample-cluster.yaml", cluster("sample-cluster", strings.Replace(counts, "storage: 3", "storage: 4", 1)))
}

// manifestWith writes the manifest of the cluster of a page with what the page shows of that file.
func (p *walk) manifestWith(t *testing.T, name, more string) {
	t.Helper()
	p.writeFile(t, name)
	p.write(t, "before.yaml", cluster("sample-cluster", more))
	p.must(t, "kubectl patch --local -f before.yaml --type merge --patch-file "+name+" -o yaml > after.yaml && mv after.yaml "+name)
}

// write writes a file of the reader.
func (p *walk) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// upWithMemory brings up a cluster whose processes have the memory that they need. Without a limit, the few
// bytes that test clusters request are the limit, which check reports.
func upWithMemory(t *testing.T, p *walk) {
	t.Helper()
	const requests = "requests: {cpu: 10m, memory: 16Mi}"
	manifest := strings.Replace(cluster("sample-cluster", counts), requests, requests+", limits: {memory: 8Gi}", 1)
	p.write(t, "sample-cluster.yaml", manifest)
	apply(t, p.ns, manifest)
	p.must(t, fmt.Sprintf(bringUp, "sample-cluster"))
}

// demo does what `make demo` does with its cluster.
func demo(t *testing.T, p *walk) {
	t.Helper()
	p.must(t, "kubectl apply -f manifests/examples/minimal.yaml")
	p.must(t, fmt.Sprintf(bringUp, "sample-cluster"))
	p.must(t, "kubectl fdb wait sample-cluster --for=healthy")
}

// twoDataCenters makes a database with one region, and a second data center with
// processes of which no region knows yet. A real one is in another Kubernetes cluster.
func twoDataCenters(t *testing.T, p *walk) {
	t.Helper()
	const common = counts + `
faultDomain: {key: foundationdb.org/none}
dataCenter: %[1]s
processGroupIDPrefix: %[1]s
databaseConfiguration: {usable_regions: 1, regions: [{datacenters: [{id: dc1, priority: 1}]}]}
`
	first := fmt.Sprintf(common, "dc1")
	up(first)(t, p)
	connection := p.must(t, "kubectl get fdb sample-cluster -o 'jsonpath={.status.connectionString}'")
	second := fmt.Sprintf(common, "dc2") + "seedConnectionString: " + connection + "\n"
	apply(t, p.ns, cluster("sample-cluster-dc2", second))
	p.must(t, fmt.Sprintf(bringUp, "sample-cluster-dc2"))
	both := cluster("sample-cluster", first) + "\n---\n" + cluster("sample-cluster-dc2", second)
	p.write(t, "sample-clusters.yaml", strings.ReplaceAll(both, "{usable_regions: 1, regions: [{datacenters: [{id: dc1, priority: 1}]}]}",
		"{usable_regions: 2, regions: [{datacenters: [{id: dc1, priority: 1}]}, {datacenters: [{id: dc2, priority: 0}]}]}"))
}

// onANodeToBeEmptied makes a cluster that leaves tainted nodes at once, on one that the page
// will taint. Nodes are shared by all tests, so the taint evicts no pods.
func onANodeToBeEmptied(t *testing.T, p *walk) {
	t.Helper()
	up(counts+`
automationOptions:
  replacements:
    maxConcurrentReplacements: 3
    taintReplacementTimeSeconds: 1
    taintReplacementOptions: [{key: example.com/maintenance, durationInSeconds: 1}]
`)(t, p)
	node := p.must(t, "kubectl get pods -l foundationdb.org/fdb-process-class=storage -o 'jsonpath={.items[0].spec.nodeName}'")
	p.instead = []string{"node-3", node, ":NoSchedule", ":PreferNoSchedule"}
	// The page does that, too, if it gets there.
	atTheEnd(t, "/bin/sh", "-c", filepath.Join(binDir, "kubectl")+" taint node "+node+" example.com/maintenance- || true")
}

// oneOfSeveral makes a cluster that shares its database by name with others.
func oneOfSeveral(t *testing.T, p *walk) {
	t.Helper()
	up(counts+"processGroupIDPrefix: dc1\nlockOptions: {disableLocks: false}\n")(t, p)
	p.instead = []string{"node-3", p.must(t, "kubectl get pods -l foundationdb.org/fdb-process-class=storage -o 'jsonpath={.items[0].spec.nodeName}'")}
}

// onANodeOfItsOwn makes a cluster of which the page drains a node. Nodes are shared by all
// tests, and while one is cordoned, the others are enough for all pods.
func onANodeOfItsOwn(t *testing.T, p *walk) {
	t.Helper()
	up(counts)(t, p)
	node := p.must(t, "kubectl get pods -l foundationdb.org/fdb-process-class=storage -o 'jsonpath={.items[0].spec.nodeName}'")
	p.instead = []string{"node-3", node}
	// The page does that, too, if it gets there.
	atTheEnd(t, filepath.Join(binDir, "kubectl"), "uncordon", node)
}

// certificate puts a certificate of its own authority where the page expects one.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: signed}, "ca.crt": {Type: "CERTIFICATE", Bytes: signed}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
