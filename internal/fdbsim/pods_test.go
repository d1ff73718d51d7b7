package fdbsim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/serverargs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// podArgs is the command line that an operator's pod gives to fdbserver.
func podArgs(name, class, addresses string) []string {
	return []string{
		"/usr/bin/fdbserver", "--cluster_file=/var/fdb/data/fdb.cluster", "--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
		"--public_address=" + addresses, "--class=" + class, "--logdir=/var/log/fdb-trace-logs", "--loggroup=sample-cluster",
		"--datadir=/var/fdb/data", "--locality_process_id=" + name + "-1", "--locality_instance_id=" + name,
		"--locality_machineid=node-" + name, "--locality_zoneid=node-" + name, "--locality_dns_name=" + name + ".sample-cluster.ns.svc",
		"--listen_address=" + addresses, "--knob_disable_posix_kernel_aio=1",
	}
}

func TestFdbserverArgumentsOfAPodAreParsed(t *testing.T) {
	got, err := serverargs.Parse(podArgs("storage-1", "storage", "[10.1.0.5]:4500:tls,[10.1.0.5]:4501"))
	if err != nil {
		t.Fatal(err)
	}
	want := []fdb.Address{{Host: "10.1.0.5", Port: 4500, TLS: true}, {Host: "10.1.0.5", Port: 4501}}
	if diff := cmp.Diff(want, got.Public); diff != "" {
		t.Error(diff)
	}
	if got.Class != "storage" || got.Locality[fdb.LocalityDNSName] != "storage-1.sample-cluster.ns.svc" || got.DataDir != "/var/fdb/data" {
		t.Errorf("%+v", got)
	}
	for name, args := range map[string][]string{
		"no address": {"fdbserver", "--cluster_file=f"}, "unknown option": append(podArgs("a", "log", "1.2.3.4:1"), "--nope=1"),
		"unknown class": podArgs("a", "nonsense", "1.2.3.4:1"), "nothing": nil,
	} {
		if _, err := serverargs.Parse(args); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTheSimulationUpdatesTheClusterFileOfEveryPod(t *testing.T) {
	const seed = "sample_cluster:abcdefgh@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501\n"
	w := NewSimulation(Options{Seed: 7})
	w.AutoAdvance()
	pods := map[string]*memoryFiles{}
	for i := 1; i <= 5; i++ {
		name := fmt.Sprintf("storage-%d", i)
		files := newFiles()
		files.files["/var/dynamic-conf/fdb.cluster"] = seed
		files.readOnly["/var/dynamic-conf/fdb.cluster"] = true
		pods[name] = files
		_, err := w.StartServer(Server{
			Args: podArgs(name, "storage", fmt.Sprintf("[10.1.0.%d]:4501", i)), Version: "7.3.79", DataKey: name,
			ClusterFile: fileIn{files, liveFile}, Seed: fileIn{files, "/var/dynamic-conf/fdb.cluster"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(5 * time.Second)
	run := func(pod, file, line string) result {
		c := &cluster{Simulation: w, t: t, files: pods[pod]}
		return c.run("-C", file, "--timeout", "40", "--exec", line)
	}
	if got := run("storage-4", liveFile, "configure new double ssd"); got.stdout != "Database created\n" {
		t.Fatalf("%+v", got)
	}
	w.Advance(time.Minute)
	if got := run("storage-4", liveFile, "coordinators 10.1.0.3:4501 10.1.0.4:4501 10.1.0.5:4501"); got.stdout != "Coordination state changed\n" {
		t.Fatalf("%+v", got)
	}
	for name, files := range pods {
		if !strings.HasSuffix(files.files[liveFile], "@10.1.0.3:4501,10.1.0.4:4501,10.1.0.5:4501\n") {
			t.Errorf("%s: %s", name, files.files[liveFile])
		}
	}
	got := run("storage-1", "/var/dynamic-conf/fdb.cluster", "status json")
	if !strings.Contains(got.stdout, `"up_to_date" : false`) || !strings.Contains(got.stdout, `"available" : true`) {
		t.Errorf("through the read-only seed: %.400s", got.stdout)
	}
}

// As observed on a real 7.3.79: a pod whose volume is new has no live cluster file before a quorum answers.
func TestTheClusterFileOfASeedIsWrittenOnceAQuorumAnswers(t *testing.T) {
	c := configured(t)
	c.stop("log-1", "log-2", "storage-1") // the first two are coordinators
	spec, files := c.specs["storage-1"], newFiles()
	files.files["/var/dynamic-conf/fdb.cluster"] = c.files.files["/var/dynamic-conf/fdb.cluster"]
	spec.ClusterFile, spec.Seed = fileIn{files, liveFile}, fileIn{files, "/var/dynamic-conf/fdb.cluster"}
	if _, err := c.StartServer(spec); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Minute)
	if got, is := files.files[liveFile]; is {
		t.Errorf("without a quorum: %q", got)
	}
	c.startAgain("log-1")
	c.Advance(time.Minute)
	if got := files.files[liveFile]; !strings.Contains(got, "@") {
		t.Errorf("with a quorum: %q", got)
	}
}

func TestASecondProcessOnTheSameAddressFailsToStart(t *testing.T) {
	c := configured(t)
	if _, err := c.StartServer(c.specs["log-1"]); err == nil || !strings.Contains(err.Error(), "address in use") {
		t.Errorf("second process on one address: %v", err)
	}
}
