package diagnose_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/diagnose"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func unresponsiveDatabase(g *commandstest.Given) {
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
}

func losePod(g *commandstest.Given) {
	for name := range g.Cluster.Pods {
		delete(g.Cluster.Pods, name)
		return
	}
}

func TestCheckExitCodes(t *testing.T) {
	tests := map[string]struct {
		given   func(*commandstest.Given)
		args    []string
		want    int
		says    string // on stdout
		reports string // on stderr
	}{
		"nothing as bad as an error":       {args: []string{"sample"}, want: exit.ExitDone, says: "POD-005   info", reports: "rules passed, 1 failed"},
		"any finding counts":               {args: []string{"sample", "--fail-on", "info"}, want: exit.ExitNo, says: "POD-005"},
		"a rule that is left out":          {args: []string{"sample", "--fail-on", "info", "--skip", "POD-005=nodes never restart"}, want: exit.ExitDone, reports: "1 skipped"},
		"a family that is left out":        {args: []string{"sample", "--fail-on", "info", "--skip", "POD"}, want: exit.ExitDone, reports: "7 skipped"},
		"a pod is missing":                 {given: losePod, args: []string{"sample"}, want: exit.ExitNo, says: "POD-001"},
		"a pod is missing, and disks read": {given: losePod, args: []string{"sample", "--rules", "VOL"}, want: exit.ExitDone, reports: "nothing found; 4 rules passed, 0 failed"},
		"no answer from the database":      {given: unresponsiveDatabase, args: []string{"sample"}, want: exit.ExitUnreachable, says: "rule/AVAIL-001,rule/AVAIL-002,+", reports: " not checked"},
		"no answer, and pods asked":        {given: unresponsiveDatabase, args: []string{"sample", "--rules", "POD", "--fail-on", "critical"}, want: exit.ExitDone},
		"pods/exec is forbidden": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: commandstest.ErrForbidden}, nil
			}
		}, args: []string{"sample"}, want: exit.ExitUnreachable, says: "forbidden"},
		"no right to run a pass":            {given: func(g *commandstest.Given) { g.Denied = []string{"create pods"} }, args: []string{"sample", "--rules", "RBAC"}, want: exit.ExitDone, says: "create pods"},
		"hidden nodes":                      {given: func(g *commandstest.Given) { g.Cluster.NodesHidden = "nodes is forbidden" }, args: []string{"sample", "--fail-on", "warning", "--rules", "NODE"}, want: exit.ExitUnreachable, says: "not-checked"},
		"junit":                             {args: []string{"sample", "-o", "junit"}, want: exit.ExitDone, says: "<testsuites"},
		"sarif":                             {args: []string{"sample", "-o", "sarif"}, want: exit.ExitDone, says: `"version": "2.1.0"`},
		"markdown":                          {args: []string{"sample", "-o", "markdown"}, want: exit.ExitDone, says: "## fdb/sample: passed"},
		"names":                             {args: []string{"sample", "-o", "name"}, want: exit.ExitDone, says: "rule/POD-005\n"},
		"columns":                           {args: []string{"sample", "-o", "custom-columns=R:.rule,O:.outcome", "--rules", "VOL-001", "--no-headers"}, want: exit.ExitDone, says: "VOL-001   passed\n"},
		"the rules":                         {args: []string{"--list"}, want: exit.ExitDone, says: "AVAIL-001     critical   The database is available"},
		"the rules of a family":             {args: []string{"--list", "--rules", "VOL", "-o", "name"}, want: exit.ExitDone, says: "rule/VOL-001\nrule/VOL-002\n"},
		"the rules and a cluster":           {args: []string{"sample", "--list"}, want: exit.ExitUsage},
		"the rules as a report":             {args: []string{"--list", "-o", "junit"}, want: exit.ExitUsage},
		"an unknown rule":                   {args: []string{"sample", "--rules", "VOL-999"}, want: exit.ExitUsage, reports: "check --list"},
		"an unknown rule to skip":           {args: []string{"sample", "--skip", "X=why"}, want: exit.ExitUsage},
		"an unknown severity":               {args: []string{"sample", "--fail-on", "bad"}, want: exit.ExitUsage},
		"an unknown output":                 {args: []string{"sample", "-o", "xml"}, want: exit.ExitUsage, reports: "junit"},
		"a negative timeout":                {args: []string{"sample", "--timeout", "-1s"}, want: exit.ExitUsage},
		"--wait of a healthy cluster":       {args: []string{"sample", "--wait"}, want: exit.ExitDone},
		"--wait ends at --timeout":          {given: losePod, args: []string{"sample", "--wait", "--timeout", "1m"}, want: exit.ExitWaiting, reports: "waiting: found: "},
		"an unknown cluster":                {args: []string{"other"}, want: exit.ExitUsage},
		"the output of another command":     {args: []string{"sample", "-o", "jsonpath={.verdict}"}, want: exit.ExitDone, says: "passed"},
		"only codes of critical rules fail": {given: losePod, args: []string{"sample", "--fail-on", "critical"}, want: exit.ExitDone, says: "POD-001"},
	}
	healthy := commandstest.Up(t)
	healthy.Cluster.Tick(2 * time.Minute)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := healthy // nothing that is checked changes
			if tc.given != nil {
				g = commandstest.Up(t)
				g.Cluster.Tick(2 * time.Minute)
				tc.given(g)
			}
			if code := g.Run(append([]string{"check"}, tc.args...)...); code != tc.want {
				t.Fatalf("exit code %d, want %d\n%s%s", code, tc.want, &g.Out, &g.Err)
			}
			if !strings.Contains(g.Out.String(), tc.says) || !strings.Contains(g.Err.String(), tc.reports) {
				t.Errorf("want %q and %q in\n%s\n%s", tc.says, tc.reports, &g.Out, &g.Err)
			}
		})
	}
}

func TestTheCheckCommandChangesNothing(t *testing.T) {
	g := commandstest.Up(t)
	losePod(g)
	seen := func() []any {
		return []any{g.Cluster.Resource.DeepCopy(), slices.Sorted(maps.Keys(g.Cluster.Pods)), slices.Sorted(maps.Keys(g.Cluster.Volumes)), g.Cluster.ConfigMap.DeepCopy(), g.Cluster.LeaseHolder, g.Cluster.LockHolder}
	}
	before := seen()
	if code := g.Run("check", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "POD-001") {
		t.Errorf("exit code %d, want a finding about the missing pod\n%s%s", code, &g.Out, &g.Err)
	}
	if diff := cmp.Diff(before, seen()); diff != "" {
		t.Error(diff)
	}
}

// Every command line that is offered begins with what this program or kubectl knows, and
// names the namespace and the context.
func TestCheckFixesAreCompleteCommandLines(t *testing.T) {
	g := commandstest.Up(t)
	losePod(g)
	g.Cluster.NodesHidden = "nodes is forbidden"
	g.Run("check", "sample", "-o", "json")
	var r check.Report
	if err := json.Unmarshal(g.Out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, item := range r.Items {
		for _, f := range item.Findings {
			found++
			words := strings.Fields(f.Fix)
			if !strings.Contains(f.Fix, "-n fdb --context test") || words[0] != "kubectl" {
				t.Errorf("%s: %s", item.Rule, f.Fix)
			}
			if words[1] != "fdb" {
				continue
			}
			if cmd, _, err := commands.NewRoot(g.Environment()).Find(words[2:]); err != nil || !cmd.Runnable() || cmd.Name() == "kubectl-fdb" {
				t.Errorf("%s: %s is no command: %v", item.Rule, f.Fix, err)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d findings: %s", found, &g.Out)
	}
}

func TestKubectlExecHintsPutNamespaceAndContextBeforeTheCommand(t *testing.T) {
	g := commandstest.NewGiven(t)
	got := g.Environment().Kubectl("exec", "pod-1", "--", "fdbcli", "--exec", "include 10.0.0.1")
	if want := "kubectl exec pod-1 -n fdb --context test -- fdbcli --exec 'include 10.0.0.1'"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCertificatesAreReadFromMountedSecrets(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Objects = append(g.Objects, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "tls", Namespace: "fdb"},
		Data:       map[string][]byte{"tls.crt": append(pemOf(t, sim.Noon.Add(time.Hour)), pemOf(t, sim.Noon)...), "tls.key": []byte("never looked at")},
	}, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "torn", Namespace: "fdb"},
		Data:       map[string][]byte{"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})},
	})
	s := plan.Snapshot{Cluster: g.Cluster.Resource.DeepCopy(), Pods: map[string]*corev1.Pod{"a": {Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
		{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "torn"}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}}},
		}}}},
	}}}}}
	if got := diagnose.CertificatesOf(t.Context(), g.Client(), s); got != nil {
		t.Errorf("without TLS: got %+v", got)
	}
	s.Cluster.Spec.MainContainer.EnableTLS = true
	got := diagnose.CertificatesOf(t.Context(), g.Client(), s)
	if end := got["tls"].Expires["tls.crt"]; !end.Equal(sim.Noon) || got["tls"].Unread != "" {
		t.Errorf("got %+v, want the first end, which is %s", got["tls"], sim.Noon)
	}
	if begin := got["tls"].ValidFrom["tls.crt"]; !begin.Equal(sim.Noon.Add(-time.Hour)) {
		t.Errorf("valid from %s, want the begin of the certificate that ends first", begin)
	}
	if issued := got["tls"].Issued; !issued.Equal(sim.Noon) {
		t.Errorf("issued at %s, want when the newest became valid, %s", issued, sim.Noon)
	}
	if got["torn"].Unread == "" || got["gone"].Unread == "" || len(got) != 3 {
		t.Errorf("got %+v, want a report of what cannot be read", got)
	}
}

// pemOf is a certificate of an hour that ends at a time.
func pemOf(t *testing.T, end time.Time) []byte {
	t.Helper()
	return pemBetween(t, end.Add(-time.Hour), end)
}

func pemBetween(t *testing.T, begin, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: end}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// resolver is a session whose pods resolve names slowly, or not at all.
type resolver struct {
	commandstest.Simulated
	took time.Duration
	// moved is whether they find another address.
	moved     bool
	err       error
	requested *[][]string
}

func (r resolver) ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error) {
	*r.requested = append(*r.requested, names)
	if r.err != nil {
		return fdb.NameLookups{}, r.err
	}
	lookups, err := r.Simulated.ReadNames(ctx, names)
	for i := range lookups.Names {
		lookups.Names[i].Slowest = max(r.took, lookups.Names[i].Slowest)
		if r.moved {
			lookups.Names[i].Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
		}
	}
	return lookups, err
}

func TestCheckMeasuresCoordinatorNameResolution(t *testing.T) {
	tests := map[string]struct {
		given     func(*commandstest.Given)
		took      time.Duration
		moved     bool
		err       error
		args      []string
		want      int
		requested int
		says      string
	}{
		"a resolver that answers":      {want: exit.ExitDone, requested: 1, says: "CONN-003   passed"},
		"a slow one":                   {took: 5 * time.Second, want: exit.ExitNo, requested: 1, says: "CONN-003   failed"},
		"a pod without getent":         {err: errors.New("resolve names: the container has no getent"), want: exit.ExitUnreachable, requested: 1, says: "CONN-003   not-checked   resolve names: the container has no getent"},
		"a rule that is left out":      {took: 5 * time.Second, args: []string{"--skip", "CONN-003=known"}, want: exit.ExitDone, says: "CONN-003   skipped"},
		"the addresses of its pods":    {args: []string{"--rules", "CONN-004"}, want: exit.ExitDone, requested: 1, says: "CONN-004   passed"},
		"the address of another pod":   {moved: true, args: []string{"--rules", "CONN-004"}, want: exit.ExitNo, requested: 1, says: "CONN-004   failed"},
		"a rule that was not asked of": {took: 5 * time.Second, args: []string{"--rules", "CONN-001"}, want: exit.ExitDone, says: "CONN-001   passed"},
		"addresses":                    {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.Routing.UseDNSInClusterFile = new(false) }, took: 5 * time.Second, want: exit.ExitDone, says: "CONN-003   passed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if tc.given != nil {
				tc.given(g)
			}
			if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			g.Cluster.FDB.Advance(2 * time.Minute) // the DNS records of new pods may be those of former ones
			var requested [][]string
			g.Connect = func() (session.Session, error) {
				return resolver{commandstest.Simulated{Cluster: g.Cluster, G: g}, tc.took, tc.moved, tc.err, &requested}, nil
			}
			args := append([]string{"check", "sample", "--fail-on", "warning", "-o", "custom-columns=R:.rule,O:.outcome,WHY:.reason"}, tc.args...)
			if !slices.Contains(args, "--rules") {
				args = append(args, "--rules", "CONN-003")
			}
			if code := g.Run(args...); code != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q in\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			if len(requested) != tc.requested || (tc.requested > 0 && len(requested[0]) != 3) {
				t.Errorf("names looked up: %v", requested)
			}
		})
	}
}

// servers is a session whose processes serve a certificate, or do not respond.
type servers struct {
	commandstest.Simulated
	serve fdb.ServedCertificate
	err   error
	reads *int
}

func (s servers) ReadServed(_ context.Context, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	*s.reads++
	var all []fdb.ServedCertificate
	for _, a := range addresses {
		c := s.serve
		c.Address = a
		all = append(all, c)
	}
	return all, s.err
}

func TestServedCertificatesAreReadOnlyIfARuleRequiresThem(t *testing.T) {
	mounted := pemOf(t, sim.Noon.Add(48*time.Hour))
	mine := fdb.ServedCertificate{Fingerprint: fingerprintOf(t, mounted), NotAfter: sim.Noon.Add(48 * time.Hour)}
	other := fdb.ServedCertificate{Fingerprint: strings.Repeat("ab", 32), NotBefore: sim.Noon.Add(-time.Hour), NotAfter: sim.Noon.Add(48 * time.Hour)}
	for name, tc := range map[string]struct {
		serve fdb.ServedCertificate
		err   error
		args  []string
		want  int
		reads int
		waits bool // reads is the least: a limit ends a wait some polls later, and each minute has one read
		says  string
	}{
		"the certificate of the Secret": {serve: mine, want: exit.ExitDone, reads: 1, says: "CERT-005   passed"},
		"another one":                   {serve: other, want: exit.ExitNo, reads: 1, says: "CERT-005   failed"},
		"no bash in the pod":            {err: errors.New("read served certificates: the script requires bash"), want: exit.ExitUnreachable, reads: 1, says: "CERT-005   not-checked   read served certificates: the script requires bash"},
		"a rule that is left out":       {serve: other, args: []string{"--skip", "CERT-005=known"}, want: exit.ExitDone, says: "CERT-005   skipped"},
		"other rules":                   {serve: other, args: []string{"--rules", "CONN-001"}, want: exit.ExitDone, says: "CONN-001   passed"},
		"a wait of some polls":          {serve: other, args: []string{"--wait", "--timeout", "50s"}, want: exit.ExitWaiting, waits: true, reads: 1},
		"a wait of more than a minute":  {serve: other, args: []string{"--wait", "--timeout", "100s"}, want: exit.ExitWaiting, waits: true, reads: 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := withTLS(t, mounted)
			reads, began := 0, g.Cluster.Now()
			g.Connect = func() (session.Session, error) {
				return servers{commandstest.Simulated{Cluster: g.Cluster, G: g}, tc.serve, tc.err, &reads}, nil
			}
			args := append([]string{"check", "sample", "--fail-on", "warning", "-o", "custom-columns=R:.rule,O:.outcome,WHY:.reason"}, tc.args...)
			if !strings.Contains(strings.Join(args, " "), "--rules") {
				args = append(args, "--rules", "CERT-005")
			}
			if code := g.Run(args...); code != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q in\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			most := tc.reads
			if tc.waits { // the last minute may end after the last poll
				most = max(most, 1+int(g.Cluster.Now().Sub(began)/time.Minute))
			}
			if reads < tc.reads || reads > most {
				t.Errorf("%d reads, want %d to %d", reads, tc.reads, most)
			}
		})
	}
}

// renewing are servers that serve the certificate from before a renewal until they have been read once.
type renewing struct{ servers }

func (s renewing) ReadServed(ctx context.Context, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	if *s.reads == 0 {
		s.serve = fdb.ServedCertificate{Fingerprint: strings.Repeat("ab", 32), NotBefore: sim.Noon.Add(-12 * time.Hour), NotAfter: sim.Noon.Add(12 * time.Hour)}
	}
	return s.servers.ReadServed(ctx, addresses)
}

// The command of docs/tls.md ends once the renewal is complete, although less than a week is left of the
// certificate from its beginning.
func TestTheCheckOfARenewalEndsWithACertificateOfADay(t *testing.T) {
	end := sim.Noon.Add(24 * time.Hour)
	mounted := pemBetween(t, sim.Noon, end)
	g := withTLS(t, mounted)
	reads := 0
	g.Connect = func() (session.Session, error) {
		return renewing{servers{commandstest.Simulated{Cluster: g.Cluster, G: g}, fdb.ServedCertificate{Fingerprint: fingerprintOf(t, mounted), NotBefore: sim.Noon, NotAfter: end}, nil, &reads}}, nil
	}
	if code := g.Run("check", "sample", "--rules", "CERT", "--wait", "--fail-on", "warning", "--timeout", "13h"); code != exit.ExitDone || reads != 2 {
		t.Errorf("exit code %d after %d reads, want 0 after 2\n%s%s", code, reads, &g.Out, &g.Err)
	}
}

// withTLS is a reconciled cluster with TLS whose pods mount a certificate.
func withTLS(t *testing.T, certificate []byte) *commandstest.Given {
	t.Helper()
	g := commandstest.NewGiven(t)
	g.Objects = append(g.Objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "tls", Namespace: "fdb"}, Data: map[string][]byte{"tls.crt": certificate}})
	spec := &g.Cluster.Resource.Spec
	spec.MainContainer.EnableTLS = true
	spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}}},
		Containers: []corev1.Container{{
			Name:         v1beta2.ContainerMain,
			Env:          []corev1.EnvVar{{Name: "FDB_TLS_CERTIFICATE_FILE", Value: "/tls/tls.crt"}, {Name: "FDB_TLS_KEY_FILE", Value: "/tls/tls.key"}, {Name: "FDB_TLS_CA_FILE", Value: "/tls/ca.crt"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "tls", MountPath: "/tls"}},
		}},
	}}}}
	if code := g.Run("reconcile", "sample", "--yes", "--wait", "--timeout", "10m"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

func fingerprintOf(t *testing.T, text []byte) string {
	t.Helper()
	block, _ := pem.Decode(text)
	return fdb.Fingerprint(block.Bytes)
}
