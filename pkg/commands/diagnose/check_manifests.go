package diagnose

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	flag "github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// manifest is the manifest of a resource, and what is wrong with it.
type manifest struct {
	proposal.Manifest
	// change is the resource as it would be stored; nil where the manifest cannot be decoded.
	change *proposal.Change
	wrong  []*proposal.RefusedError
}

// cluster returns the name of the cluster that a manifest is about: its own, or that of its backup or restore.
func (m manifest) cluster() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Object.GetNamespace(), Name: proposal.ClusterOf(m.Object)}
}

// subject returns the resource as findings name it.
func (m manifest) subject() string {
	return strings.ToLower(m.Object.GetKind()) + "/" + m.Object.GetName()
}

// checkManifests prints a report about the manifests of each cluster.
func (o checkOptions) checkManifests(ctx context.Context, env *session.Env, args []string, options check.Options) error {
	if len(args) > 0 || o.Name != "" {
		return exit.Usagef("-f and -k check the clusters of the manifests, and conflict with a cluster name")
	}
	all, rules, err := o.readManifests(ctx, env)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	var clusters []types.NamespacedName
	for _, m := range all {
		if key := m.cluster(); !slices.Contains(clusters, key) {
			clusters = append(clusters, key)
		}
	}
	var reports []check.Report
	for _, key := range clusters {
		r, err := o.manifestsOf(ctx, env, key, all, rules, options)
		if err != nil {
			return exit.CauseOf(ctx, err)
		}
		reports = append(reports, r)
	}
	list := check.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports, options.FailOn)
	return checked{verdict: list.Verdict, words: list.Text(), write: func() error { return o.writeAll(env, list) }}.end(env)
}

// readManifests returns the FoundationDB resources of the manifests, and the rules of namespaces among the other objects. From then on the environment reads them as they would be
// stored, and with --local nothing else.
func (o checkOptions) readManifests(ctx context.Context, env *session.Env) ([]manifest, namespaceRules, error) {
	read, beside, err := o.files.ReadAll(env.In)
	if err != nil {
		return nil, namespaceRules{}, err
	}
	rules, others, err := rulesAmong(beside)
	if err != nil {
		return nil, namespaceRules{}, err
	}
	if len(others) > 0 {
		env.Logf("not checked: %s (%s)", phrase.Count(len(others), "other object"), phrase.List(others))
	}
	if o.local {
		scheme, err := session.NewScheme()
		if err != nil {
			return nil, namespaceRules{}, err
		}
		env.Client = func() (client.Client, error) { return proposal.Nothing(scheme), nil }
	}
	c, err := env.Client()
	if err != nil {
		return nil, namespaceRules{}, err
	}
	p := proposal.Proposer{Client: c, Offline: o.local || session.IsDumped(env), Beside: proposal.NewBeside(beside)}
	var all []manifest
	var changes []*proposal.Change
	for _, one := range read {
		if err := flag.SetNamespace(one, env); err != nil {
			return nil, namespaceRules{}, err
		}
		m := manifest{Manifest: one}
		if m.change, m.wrong, err = p.Examine(ctx, one); err != nil {
			return nil, namespaceRules{}, err
		}
		if all = append(all, m); m.change != nil {
			changes = append(changes, m.change)
		}
	}
	if assumed := p.Beside.Assumed(); len(assumed) > 0 {
		env.Logf("warning: the API server made no dry run, since it does not have %s of the manifests yet: its defaults and refusals are not checked", phrase.List(planned.AssumedWords(assumed)))
	}
	session.ReadProposed(env, changes)
	return all, rules, nil
}

// manifestsOf checks the manifests of a cluster, its backups and its restores.
func (o checkOptions) manifestsOf(ctx context.Context, env *session.Env, key types.NamespacedName, all []manifest, rules namespaceRules, options check.Options) (check.Report, error) {
	facts := check.Facts{Templates: session.TemplateRestrictions(env), Manifests: &check.Manifests{}}
	facts.Now = env.Clock.Now()
	facts.Resource = &v1beta2.FoundationDBCluster{}
	facts.Resource.Namespace, facts.Resource.Name = key.Namespace, key.Name
	bySubject := map[string]manifest{}
	for _, m := range all {
		if m.cluster() != key {
			continue
		}
		bySubject[m.subject()] = m
		facts.Manifests.Add(m.problems())
		if m.Object.GetKind() != "FoundationDBCluster" {
			continue
		}
		if facts.Manifests.OfCluster = true; m.change == nil {
			facts.Manifests.Undecoded = "the manifest cannot be decoded"
		} else if err := m.change.Decode(facts.Resource); err != nil {
			return check.Report{}, err
		}
	}
	facts.Cluster, facts.InvalidSpec = facts.Resource.NormalizedToRead(), plan.InvalidFields(facts.Resource.Validate())
	if !facts.Manifests.OfCluster || facts.Manifests.Undecoded != "" {
		facts.InvalidSpec = nil
	}
	backups, err := session.BackupsReader{Env: env, Key: key}.Resources(ctx)
	if err != nil {
		return check.Report{}, err
	}
	facts.Backups = *backups
	if o.local && !facts.Manifests.OfCluster {
		facts.Backups.ClustersUnread = notAsked
	}
	if facts.Others, err = o.aroundManifests(ctx, env, key.Namespace, options); err != nil {
		return check.Report{}, err
	}
	if facts.Manifests.Namespace, err = o.rulesAround(ctx, env, key.Namespace, rules); err != nil {
		return check.Report{}, err
	}
	options.Command = func(words ...string) string { return env.KubectlIn(key.Namespace, words...) }
	options.Place = func(subject, field string) check.Place { return placeIn(bySubject, key, subject, field) }
	return check.NewReport(env.Metadata(key), facts, options), nil
}

// notAsked is why what only a Kubernetes cluster has is not checked.
const notAsked = "--local reads nothing from an API server"

// aroundManifests reads the objects of other controllers, except with --local.
func (o checkOptions) aroundManifests(ctx context.Context, env *session.Env, namespace string, options check.Options) (check.OtherControllers, error) {
	if o.local {
		return check.OtherControllers{NodesUnread: notAsked, ClassesUnread: notAsked}, nil
	}
	c, err := env.Client()
	if err != nil {
		return check.OtherControllers{}, err
	}
	return othersOf(ctx, c, namespace, options), nil
}

// placeIn returns where the manifest of a subject has a field; for subjects without a manifest, such as a process class, that of
// the cluster.
func placeIn(bySubject map[string]manifest, cluster types.NamespacedName, subject, field string) check.Place {
	m, found := bySubject[subject]
	if !found {
		if m, found = bySubject["foundationdbcluster/"+cluster.Name]; !found {
			return check.Place{}
		}
	}
	at := check.Place{File: m.Source, Line: m.Line(field)}
	if at.Line > 0 && m.InFile() {
		at.Edit = fmt.Sprintf("${EDITOR:-vi} +%d %s", at.Line, session.Quoted(m.Source))
	}
	at.Correction = m.correction(field)
	return at
}

// correction returns what the line of a field must be; nil where that is not certain.
func (m manifest) correction(field string) *check.Correction {
	for _, w := range m.wrong {
		for _, p := range w.Problems {
			if p.Field != field {
				continue
			}
			if c := m.Correction(p); c != nil {
				return &check.Correction{Before: c.Before, After: c.After}
			}
		}
	}
	return nil
}

// problems returns what is wrong with a manifest.
func (m manifest) problems() (lost, refused []check.FieldProblem) {
	for _, w := range m.wrong {
		for _, p := range w.Problems {
			problem := check.FieldProblem{Subject: m.subject(), OfCluster: m.Object.GetKind() == "FoundationDBCluster", Field: p.Field, Message: p.Message}
			switch w.Kind {
			case proposal.Dropped:
				problem.Message = "the API server would drop " + p.Message
				lost = append(lost, problem)
			case proposal.Unknown:
				problem.Message = m.Object.GetKind() + " does not have " + p.Message
				lost = append(lost, problem)
			default:
				refused = append(refused, problem)
			}
		}
	}
	return lost, refused
}

// CertificatesOf returns the validity of the certificates in Secrets that a cluster with TLS
// mounts; nil without TLS. Nothing else of a Secret is read. A Secret that cannot be read is a
// fact.
func CertificatesOf(ctx context.Context, c client.Client, s plan.Snapshot) map[string]check.Secret {
	if !s.Cluster.Spec.MainContainer.EnableTLS && !s.Cluster.Spec.SidecarContainer.EnableTLS {
		return nil
	}
	secrets := map[string]check.Secret{}
	for _, name := range mountedSecrets(s) {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, types.NamespacedName{Namespace: s.Cluster.Namespace, Name: name}, secret); err != nil {
			secrets[name] = check.Secret{Unread: exit.Explain(err)}
			continue
		}
		secrets[name] = expiries(secret.Data)
	}
	return secrets
}

// mountedSecrets returns the Secrets that pods of the cluster mount, sorted by name.
func mountedSecrets(s plan.Snapshot) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, pod := range s.Pods {
		for _, volume := range pod.Spec.Volumes {
			if volume.Secret != nil {
				add(volume.Secret.SecretName)
			}
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.Secret != nil {
					add(source.Secret.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// expiries returns the validity of the first certificate to expire under each key of a Secret, and
// when the newest of all became valid.
func expiries(data map[string][]byte) check.Secret {
	found := check.Secret{Expires: map[string]time.Time{}, ValidFrom: map[string]time.Time{}}
	for key, text := range data {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" {
				continue
			}
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				found.Unread = fmt.Sprintf("a certificate in %s cannot be read: %v", key, err)
				continue
			}
			if end, known := found.Expires[key]; !known || certificate.NotAfter.Before(end) {
				found.Expires[key], found.ValidFrom[key] = certificate.NotAfter, certificate.NotBefore
			}
			found.Fingerprints = append(found.Fingerprints, fdb.Fingerprint(block.Bytes))
			if certificate.NotBefore.After(found.Issued) {
				found.Issued = certificate.NotBefore
			}
		}
	}
	return found
}
