package objects

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// podVariables are what a pod of storage-1 reports.
func podVariables() map[string]string {
	return map[string]string{
		"FDB_PUBLIC_IP": "10.1.0.9", "FDB_POD_IP": "10.1.0.9", "FDB_MACHINE_ID": "node-a", "FDB_ZONE_ID": "node-a",
		"FDB_INSTANCE_ID": "storage-1", "FDB_DNS_NAME": "sample-storage-1.sample.fdb.svc.cluster.local", "BINARY_DIR": "/usr/bin",
	}
}

func TestCommandLines(t *testing.T) {
	storage := v1beta2.ProcessClassStorage
	tests := map[string]struct {
		given  []given
		launch func(Launch) Launch
		number int
		words  []string
	}{
		"unified: in the order of the configuration, every server numbered": {
			words: []string{
				"/usr/bin/fdbserver",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
				"--public_address=[10.1.0.9]:4501",
				"--class=storage",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=sample",
				"--datadir=/var/fdb/data/1",
				"--locality_process_id=storage-1-1",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_zoneid=node-a",
				"--listen_address=[10.1.0.9]:4501",
				"--locality_dns_name=sample-storage-1.sample.fdb.svc.cluster.local",
			},
		},
		"split: sorted, a single server is not numbered": {
			given: []given{splitImage, withoutDNS},
			words: []string{
				"/usr/bin/fdbserver",
				"--class=storage",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--datadir=/var/fdb/data",
				"--listen_address=10.1.0.9:4501",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_zoneid=node-a",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=sample",
				"--public_address=10.1.0.9:4501",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
			},
		},
		"split: the second of two servers": {
			given:  []given{splitImage, withoutDNS, twoServers},
			number: 2,
			words: []string{
				"/usr/bin/fdbserver",
				"--class=storage",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--datadir=/var/fdb/data/2",
				"--listen_address=10.1.0.9:4503",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_process_id=storage-1-2",
				"--locality_zoneid=node-a",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=sample",
				"--public_address=10.1.0.9:4503",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
			},
		},
		"a split pod of a cluster that goes unified keeps its data directory": {
			given:  []given{withoutDNS},
			launch: func(l Launch) Launch { l.ImageType = v1beta2.ImageTypeSplit; return l },
			words: []string{
				"/usr/bin/fdbserver",
				"--class=storage",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--datadir=/var/fdb/data",
				"--listen_address=10.1.0.9:4501",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_zoneid=node-a",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=sample",
				"--public_address=10.1.0.9:4501",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
			},
		},
		"a unified pod of a cluster that goes split keeps its data directory": {
			given:  []given{splitImage, withoutDNS},
			launch: func(l Launch) Launch { l.ImageType = v1beta2.ImageTypeUnified; return l },
			words: []string{
				"/usr/bin/fdbserver",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
				"--public_address=[10.1.0.9]:4501",
				"--class=storage",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=sample",
				"--datadir=/var/fdb/data/1",
				"--locality_process_id=storage-1-1",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_zoneid=node-a",
				"--listen_address=[10.1.0.9]:4501",
			},
		},
		"no listen address before every pod knows its IP; places, rules and parameters": {
			given: []given{
				withoutDNS, withTLS,
				parameters("knob_a = 1", "knob_b=$RACK", "knob_c=x=y", "knob_d=$FDB_ZONE_ID", "locality_data_hall=mine"),
				func(c *v1beta2.FoundationDBCluster) {
					c.Status.HasListenIPsForAllPods = false
					c.Spec.LogGroup = "group"
					c.Spec.DataCenter, c.Spec.DataHall = "dc1", "hall1"
					c.Spec.MainContainer.PeerVerificationRules = "S.CN=fdb"
					c.Spec.FaultDomain.ValueFrom = "$NODE_LABEL_RACK"
				},
			},
			words: []string{
				"/usr/bin/fdbserver",
				"--cluster_file=/var/fdb/data/fdb.cluster",
				"--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
				"--public_address=[10.1.0.9]:4500:tls",
				"--class=storage",
				"--logdir=/var/log/fdb-trace-logs",
				"--loggroup=group",
				"--datadir=/var/fdb/data/1",
				"--locality_process_id=storage-1-1",
				"--locality_instance_id=storage-1",
				"--locality_machineid=node-a",
				"--locality_zoneid=$NODE_LABEL_RACK",
				"--tls_verify_peers=S.CN=fdb",
				"--knob_a=1",
				"--knob_b=$RACK",
				"--knob_c=x=y",
				"--knob_d=node-a",
				"--locality_data_hall=mine",
				"--locality_dcid=dc1",
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t, tt.given...)
			launch := DesiredLaunch(c, storage)
			if tt.launch != nil {
				launch = tt.launch(launch)
			}
			got, err := CommandLine(c, launch, max(tt.number, 1), podVariables())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.words, strings.Split(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommandLineNeedsTheBinaryDirectory(t *testing.T) {
	c := sample(t)
	variables := podVariables()
	delete(variables, "BINARY_DIR")
	if got, err := CommandLine(c, DesiredLaunch(c, v1beta2.ProcessClassStorage), 1, variables); err == nil {
		t.Errorf("no error, but %q", got)
	}
}

func TestACommandLineTooLongForTheStatusIsAnError(t *testing.T) {
	c := sample(t, func(c *v1beta2.FoundationDBCluster) { c.Spec.LogGroup = strings.Repeat("x", maxCommandLine) })
	_, err := CommandLine(c, DesiredLaunch(c, v1beta2.ProcessClassStorage), 1, podVariables())
	if !errors.Is(err, ErrCommandLineTooLong) {
		t.Errorf("got %v, want %v", err, ErrCommandLineTooLong)
	}
}

func TestCommandLineDoesNotChangeThePodVariables(t *testing.T) {
	c := sample(t, parameters("knob_a=$UNKNOWN"))
	variables := podVariables()
	if _, err := CommandLine(c, DesiredLaunch(c, v1beta2.ProcessClassStorage), 1, variables); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(podVariables(), variables); diff != "" {
		t.Error(diff)
	}
}

func TestSplitMonitorConf(t *testing.T) {
	tests := map[string]struct {
		given     []given
		variables map[string]string
		want      []string
	}{
		"in the config map: names where the sidecar fills in values": {
			want: []string{
				"[general]",
				"kill_on_configuration_change = false",
				"restart_delay = 60",
				"[fdbserver.1]",
				"command = $BINARY_DIR/fdbserver",
				"cluster_file = /var/fdb/data/fdb.cluster",
				"seed_cluster_file = /var/dynamic-conf/fdb.cluster",
				"public_address = $FDB_PUBLIC_IP:4501",
				"class = storage",
				"logdir = /var/log/fdb-trace-logs",
				"loggroup = sample",
				"datadir = /var/fdb/data",
				"locality_instance_id = $FDB_INSTANCE_ID",
				"locality_machineid = $FDB_MACHINE_ID",
				"locality_zoneid = $FDB_ZONE_ID",
				"listen_address = $FDB_POD_IP:4501",
				"locality_dns_name = $FDB_DNS_NAME",
			},
		},
		"in a pod with two servers": {
			given:     []given{twoServers, withoutDNS, parameters("knob_a=b=c")},
			variables: podVariables(),
			want: []string{
				"[general]",
				"kill_on_configuration_change = false",
				"restart_delay = 60",
				"[fdbserver.1]",
				"command = /usr/bin/fdbserver",
				"cluster_file = /var/fdb/data/fdb.cluster",
				"seed_cluster_file = /var/dynamic-conf/fdb.cluster",
				"public_address = 10.1.0.9:4501",
				"class = storage",
				"logdir = /var/log/fdb-trace-logs",
				"loggroup = sample",
				"datadir = /var/fdb/data/1",
				"locality_process_id = storage-1-1",
				"locality_instance_id = storage-1",
				"locality_machineid = node-a",
				"locality_zoneid = node-a",
				"listen_address = 10.1.0.9:4501",
				"knob_a = b=c",
				"[fdbserver.2]",
				"command = /usr/bin/fdbserver",
				"cluster_file = /var/fdb/data/fdb.cluster",
				"seed_cluster_file = /var/dynamic-conf/fdb.cluster",
				"public_address = 10.1.0.9:4503",
				"class = storage",
				"logdir = /var/log/fdb-trace-logs",
				"loggroup = sample",
				"datadir = /var/fdb/data/2",
				"locality_process_id = storage-1-2",
				"locality_instance_id = storage-1",
				"locality_machineid = node-a",
				"locality_zoneid = node-a",
				"listen_address = 10.1.0.9:4503",
				"knob_a = b=c",
			},
		},
		"with no server at all": {
			given: []given{func(c *v1beta2.FoundationDBCluster) { c.Spec.Buggify.EmptyMonitorConf = true }},
			want:  []string{"[general]", "kill_on_configuration_change = false", "restart_delay = 60"},
		},
		"empty without a connection string": {
			given: []given{func(c *v1beta2.FoundationDBCluster) { c.Status.ConnectionString = "" }},
			want:  []string{""},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t, append([]given{splitImage}, tt.given...)...)
			got, err := MonitorConf(c, DesiredLaunch(c, v1beta2.ProcessClassStorage), tt.variables)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoProcessRunsWithoutAConnectionString(t *testing.T) {
	c := sample(t, func(c *v1beta2.FoundationDBCluster) { c.Status.ConnectionString = "" })
	m, err := MonitorConfiguration(c, DesiredLaunch(c, v1beta2.ProcessClassStorage))
	if err != nil {
		t.Fatal(err)
	}
	if m.ServersRun() {
		t.Error("servers would run without a cluster file")
	}
}

func TestCustomParameterWithoutValueIsAnError(t *testing.T) {
	c := sample(t)
	c.Spec.Processes[v1beta2.ProcessClassGeneral] = v1beta2.ProcessSettings{
		CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_a"},
	}
	if m, err := MonitorConfiguration(c, DesiredLaunch(c, v1beta2.ProcessClassStorage)); err == nil {
		t.Errorf("no error, but %v", m)
	}
}

func TestAMemoryLimitBelowWhatProcessesUseIsFoundInTheSpec(t *testing.T) {
	const (
		small = "the memory limit of container foundationdb is 512Mi for 1 fdbserver process, 1Gi each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)"
		two   = "the memory limit of container foundationdb is 1536Mi for 2 fdbserver processes, 1Gi each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)"
		own   = "the memory limit of container foundationdb is 4Gi for 1 fdbserver process, and customParameters let each use 6Gi: the kernel ends them before they keep to that"
	)
	tests := map[string]struct {
		limit     string
		parameter v1beta2.FoundationDBCustomParameter
		servers   int
		want      string
	}{
		"a container without a limit":                  {},
		"the limit that a template has by default":     {limit: "1Gi"},
		"a smaller limit":                              {limit: "512Mi", want: small},
		"a limit that fits one of two processes":       {limit: "1536Mi", servers: 2, want: two},
		"a limit that fits both":                       {limit: "2Gi", servers: 2},
		"processes that may use more than the limit":   {limit: "4Gi", parameter: "memory=6GiB", want: own},
		"processes that may use all of the limit":      {limit: "6Gi", parameter: "memory = 6GiB"},
		"a parameter without a unit, which is MiB":     {limit: "4Gi", parameter: "memory=6144", want: own},
		"a parameter that fdbserver cannot read":       {limit: "4Gi", parameter: "memory=much"},
		"another parameter with memory in its name":    {limit: "4Gi", parameter: "cache_memory=6GiB"},
		"a small limit beside parameters that fit it":  {limit: "512Mi", parameter: "memory=256MiB", want: small},
		"a parameter without a limit of the container": {parameter: "memory=64GiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t)
			settings := c.Settings(v1beta2.ProcessClassStorage)
			settings.PodTemplate = settings.PodTemplate.DeepCopy()
			settings.CustomParameters = nil
			if tc.parameter != "" {
				settings.CustomParameters = v1beta2.FoundationDBCustomParameters{tc.parameter}
			}
			main := container(settings.PodTemplate.Spec.Containers, v1beta2.ContainerMain)
			main.Resources = corev1.ResourceRequirements{}
			if tc.limit != "" {
				main.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(tc.limit)}
			}
			c.Spec.Processes[v1beta2.ProcessClassStorage] = settings
			c.Spec.StorageServersPerPod = max(tc.servers, 1)
			var want, got []string
			if tc.want != "" {
				want = []string{"storage: " + tc.want}
			}
			for _, l := range TooLittleMemory(c) {
				got = append(got, string(l.Class)+": "+l.Text())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("too little (-want +got):\n%s", diff)
			}
		})
	}
}
