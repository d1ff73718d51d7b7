package diagnose_test

import (
	"context"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
