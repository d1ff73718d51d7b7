package objects

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// nightly is a small backup.
func nightly(changes ...func(*v1beta2.FoundationDBBackup)) *v1beta2.FoundationDBBackup {
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "ns", UID: "backup-uid"}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.ImageType = "7.3.79", "sample", new(v1beta2.ImageTypeUnified)
	b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store"}
	for _, change := range changes {
		change(b)
	}
	return b
}

func splitAgents(b *v1beta2.FoundationDBBackup) { b.Spec.ImageType = new(v1beta2.ImageTypeSplit) }

func withCredentials(b *v1beta2.FoundationDBBackup) {
	b.Spec.AgentCount, b.Spec.DataCenter = new(3), "dc1"
	b.Spec.CustomParameters = v1beta2.FoundationDBCustomParameters{"knob_http_verbose_level=2"}
	b.Spec.BackupDeploymentMetadata = &metav1.ObjectMeta{Labels: map[string]string{"team": "storage"}, Annotations: map[string]string{"note": "ours"}}
	b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "backup"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "other", Image: "other:1"}, {
				Name: v1beta2.ContainerMain, Image: "registry.example/fdb",
				Env:          []corev1.EnvVar{{Name: "FDB_BLOB_CREDENTIALS", Value: "/var/credentials/file"}},
				VolumeMounts: []corev1.VolumeMount{{Name: "credentials", MountPath: "/var/credentials"}},
			}},
			Volumes: []corev1.Volume{
				{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "backup-credentials"}}},
				{Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/logs"}}},
			},
		},
	}
}

func TestBackupAgentDeploymentsOfEachImageType(t *testing.T) {
	for name, given := range map[string][]func(*v1beta2.FoundationDBBackup){
		"unified":    nil,
		"split":      {splitAgents},
		"a template": {withCredentials},
		"image rules": {splitAgents, func(b *v1beta2.FoundationDBBackup) {
			b.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: "registry.example/main"}}
			b.Spec.SidecarContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: "registry.example/sidecar", TagSuffix: "-2"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := AgentDeployment(nightly(given...))
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, pretty(t, d))
		})
	}
}

func TestABackupWithoutAgentsHasNoDeployment(t *testing.T) {
	d, err := AgentDeployment(nightly(func(b *v1beta2.FoundationDBBackup) { b.Spec.AgentCount = new(0) }))
	if d != nil || err != nil {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestTheDeploymentHashDependsOnlyOnItsSpec(t *testing.T) {
	hash := func(changes ...func(*v1beta2.FoundationDBBackup)) string {
		d, err := AgentDeployment(nightly(changes...))
		if err != nil {
			t.Fatal(err)
		}
		return d.Annotations[v1beta2.AnnotationLastAppliedSpec]
	}
	plain := hash()
	labeled := hash(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.BackupDeploymentMetadata = &metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}
	})
	more := hash(func(b *v1beta2.FoundationDBBackup) { b.Spec.AgentCount = new(5) })
	if labeled != plain || more == plain {
		t.Errorf("plain %s, labeled %s, more agents %s", plain, labeled, more)
	}
}

func TestBackupAgentImageTagsRequireAllowTagOverride(t *testing.T) {
	tagged := func(b *v1beta2.FoundationDBBackup) {
		b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Image: "registry.example/fdb:mine"}},
		}}
	}
	if d, err := AgentDeployment(nightly(tagged)); err == nil {
		t.Errorf("a tag without leave gives %s", d.Spec.Template.Spec.Containers[0].Image)
	}
	allowed := func(b *v1beta2.FoundationDBBackup) { b.Spec.AllowTagOverride = new(true) } //nolint:staticcheck // deprecated, and still read
	d, err := AgentDeployment(nightly(tagged, allowed))
	if err != nil || d.Spec.Template.Spec.Containers[0].Image != "registry.example/fdb:mine" {
		t.Errorf("%v, %v", d, err)
	}
}

func TestBackupAndRestoreURLs(t *testing.T) {
	if got, err := BackupURL(nightly()); err != nil || got != "blobstore://key@store:443/nightly?bucket=fdb-backups" {
		t.Errorf("got %s, %v", got, err)
	}
	restore := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again"}}
	if _, err := RestoreURL(restore); err == nil {
		t.Error("a restore from nowhere")
	}
	restore.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{
		AccountName: "key@store", BackupName: "nightly", Bucket: "archive", URLParameters: []v1beta2.URLParameter{"region=eu"},
	}
	if got, err := RestoreURL(restore); err != nil || got != "blobstore://key@store:443/nightly?bucket=archive&region=eu" {
		t.Errorf("got %s, %v", got, err)
	}
	restore.Spec.BlobStoreConfiguration.AccountName = "@store"
	if got, err := RestoreURL(restore); err != nil || got != "blobstore://@store:443/nightly?bucket=archive&region=eu" {
		t.Errorf("an empty key: got %s, %v", got, err)
	}
	restore.Spec.BlobStoreConfiguration.AccountName = "key:hunter2@store"
	if _, err := RestoreURL(restore); !errors.Is(err, fdb.ErrSecretInAccount) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestBackupAgentImagesFollowTheImageConfigs(t *testing.T) {
	const mine = "registry.example/sidecar"
	for name, test := range map[string]struct {
		rules    []v1beta2.ImageConfig
		template string
		want     string
	}{
		"no rules: the default image and its suffix":                {nil, "", "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-1"},
		"no rules, an image in the template: the default suffix":    {nil, mine, mine + ":7.3.79-1"},
		"an image of its own has no suffix unless a rule gives one": {[]v1beta2.ImageConfig{{BaseImage: mine}}, "", mine + ":7.3.79"},
		"a suffix of its own":                                          {[]v1beta2.ImageConfig{{BaseImage: mine, TagSuffix: "-2"}}, "", mine + ":7.3.79-2"},
		"a rule and an image in the template: no suffix":               {[]v1beta2.ImageConfig{{BaseImage: "other"}}, mine, mine + ":7.3.79"},
		"a rule without an image takes the default one":                {[]v1beta2.ImageConfig{{TagSuffix: "-2"}}, "", "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-2"},
		"rules for other versions count as rules that choose no image": {[]v1beta2.ImageConfig{{Version: "7.1.57", BaseImage: mine}}, "", "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-1"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := AgentDeployment(nightly(func(b *v1beta2.FoundationDBBackup) {
				b.Spec.Version, b.Spec.ImageType = "7.3.79", new(v1beta2.ImageTypeSplit)
				b.Spec.SidecarContainer.ImageConfigs = test.rules
				b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: v1beta2.ContainerInit, Image: test.template}},
				}}
			}))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Spec.Template.Spec.InitContainers[0].Image; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
