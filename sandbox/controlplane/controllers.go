package controlplane

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// controllers are the parts of kube-controller-manager a sandbox runs.
type controllers struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	scales   scale.ScalesGetter
	mapper   *restmapper.DeferredDiscoveryRESTMapper
	shared   informers.SharedInformerFactory
	objects  metadatainformer.SharedInformerFactory
	grace    time.Duration // time without a report after which a node is NotReady
	rootCA   []byte
}

// controllerLoop runs one controller until its context ends.
type controllerLoop func(context.Context)

// startControllers runs the controllers until ctx ends.
func startControllers(ctx context.Context, config *rest.Config, pki PKI, nodeGrace time.Duration) error {
	c, err := newControllers(config, pki, nodeGrace)
	if err != nil {
		return err
	}
	started := make(chan struct{})
	loops, err := c.loops(ctx, started)
	if err != nil {
		return err
	}
	c.shared.Start(ctx.Done())
	c.objects.Start(ctx.Done())
	close(started)
	for _, run := range loops {
		go run(ctx)
	}
	return nil
}

func newControllers(config *rest.Config, pki PKI, nodeGrace time.Duration) (*controllers, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create the controllers' client: %w", err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create the controllers' metadata client: %w", err)
	}
	rootCA, err := os.ReadFile(pki.Path("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the root certificate: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(config, meta.RESTMapper(mapper), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("create the controllers' scale client: %w", err)
	}
	return &controllers{
		client: client, metadata: objects, scales: scales, mapper: mapper, rootCA: rootCA, grace: nodeGrace,
		shared:  informers.NewSharedInformerFactory(client, 0),
		objects: metadatainformer.NewSharedInformerFactory(objects, 0),
	}, nil
}

// loops makes every controller; informersStarted is closed when their caches fill.
func (c *controllers) loops(ctx context.Context, informersStarted <-chan struct{}) ([]controllerLoop, error) {
	var all []controllerLoop
	for _, build := range []func(context.Context) ([]controllerLoop, error){
		func(ctx context.Context) ([]controllerLoop, error) { return c.garbage(ctx, informersStarted) },
		func(ctx context.Context) ([]controllerLoop, error) { return c.quotas(ctx, informersStarted) },
		c.namespaces, c.volumes, c.pods, c.nodes,
	} {
		loops, err := build(ctx)
		if err != nil {
			return nil, fmt.Errorf("create the controllers: %w", err)
		}
		all = append(all, loops...)
	}
	return all, nil
}

const (
	// kindDiscoveryInterval is how often the garbage collector discovers new
	// kinds; kube-controller-manager's 30 s would delay the deletion of the
	// dependents of new custom resources for that long.
	kindDiscoveryInterval = time.Second
	// mapperResetInterval is how often cached kinds are forgotten.
	mapperResetInterval = 30 * time.Second
	// namespaceResync is kube-controller-manager's own.
	namespaceResync = 5 * time.Minute
)

func (c *controllers) garbage(ctx context.Context, informersStarted <-chan struct{}) ([]controllerLoop, error) {
	gc, err := garbagecollector.NewGarbageCollector(ctx, c.client, c.metadata, c.mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(c.shared, c.objects), informersStarted)
	if err != nil {
		return nil, err
	}
	return []controllerLoop{
		func(ctx context.Context) { gc.Run(ctx, 4, mapperResetInterval) },
		func(ctx context.Context) { gc.Sync(ctx, c.client.Discovery(), kindDiscoveryInterval) },
	}, nil
}

// The numbers of kube-controller-manager.
const (
	quotaWorkers = 5
	quotaResync  = 5 * time.Minute
	// replenishResync is half a day in kube-controller-manager, so that it never matters here.
	replenishResync = 12 * time.Hour
)

// quotas counts what namespaces with a ResourceQuota use. Without it the API server enforces no quota.
func (c *controllers) quotas(ctx context.Context, informersStarted <-chan struct{}) ([]controllerLoop, error) {
	kinds := c.client.Discovery().ServerPreferredNamespacedResources
	configuration, err := quotainstall.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(c.shared.ForResource), c.shared)
	if err != nil {
		return nil, err
	}
	quotas, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               c.client.CoreV1(),
		ResourceQuotaInformer:     c.shared.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(quotaResync),
		InformerFactory:           informerfactory.NewInformerFactory(c.shared, c.objects),
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(replenishResync),
		DiscoveryFunc:             kinds,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          informersStarted,
		Registry:                  generic.NewRegistry(configuration.Evaluators()),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return []controllerLoop{
		func(ctx context.Context) { quotas.Run(ctx, quotaWorkers) },
		func(ctx context.Context) { quotas.Sync(ctx, kinds, mapperResetInterval) },
	}, nil
}

func (c *controllers) namespaces(ctx context.Context) ([]controllerLoop, error) {
	core := c.shared.Core().V1()
	namespaces := namespace.NewNamespaceController(ctx, c.client, c.metadata, c.client.Discovery().ServerPreferredNamespacedResources,
		core.Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), c.client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	roots, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), c.client, c.rootCA)
	if err != nil {
		return nil, err
	}
	return []controllerLoop{
		func(ctx context.Context) { namespaces.Run(ctx, 4) },
		func(ctx context.Context) { accounts.Run(ctx, 1) },
		func(ctx context.Context) { roots.Run(ctx, 1) },
	}, nil
}

func (c *controllers) volumes(ctx context.Context) ([]controllerLoop, error) {
	core := c.shared.Core().V1()
	claims, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), c.client)
	if err != nil {
		return nil, err
	}
	volumes := pvprotection.NewPVProtectionController(klog.FromContext(ctx), core.PersistentVolumes(), c.client)
	return []controllerLoop{
		func(ctx context.Context) { claims.Run(ctx, 1) },
		func(ctx context.Context) { volumes.Run(ctx, 1) },
	}, nil
}

func (c *controllers) pods(ctx context.Context) ([]controllerLoop, error) {
	core, apps := c.shared.Core().V1(), c.shared.Apps().V1()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), core.Pods(), c.client)
	if err != nil {
		return nil, err
	}
	replicas := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), core.Pods(), c.client, replicaset.BurstReplicas)
	budgets := disruption.NewDisruptionController(ctx, core.Pods(), c.shared.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), c.client, c.mapper, c.scales, c.client.Discovery())
	return []controllerLoop{
		func(ctx context.Context) { deployments.Run(ctx, 2) },
		func(ctx context.Context) { replicas.Run(ctx, 2) },
		budgets.Run,
	}, nil
}

// unlimitedEvictions lifts the limits a large cluster needs.
const unlimitedEvictions = 1000

func (c *controllers) nodes(ctx context.Context) ([]controllerLoop, error) {
	core := c.shared.Core().V1()
	lifecycle, err := nodelifecycle.NewNodeLifecycleController(ctx, c.shared.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		c.shared.Apps().V1().DaemonSets(), c.client, time.Second, c.grace, c.grace, unlimitedEvictions, unlimitedEvictions, 50, 0.55)
	if err != nil {
		return nil, err
	}
	evictions, err := tainteviction.New(ctx, c.client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return []controllerLoop{lifecycle.Run, evictions.Run, (&podGC{client: c.client}).run}, nil
}
