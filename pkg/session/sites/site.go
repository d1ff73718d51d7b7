package sites

import (
	"errors"
	"fmt"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// Site is one of the Kubernetes clusters of a database, with the FoundationDBCluster in it.
type Site struct {
	// Name is what output calls the site; the default is its context.
	Name string `json:"name,omitempty"`
	// Context is a context of the kubeconfig.
	Context string `json:"context"`
	// Namespace is that of the resource; the default is that of -n, else that of the context.
	Namespace string `json:"namespace,omitempty"`
	// Cluster is the name of the resource; the default is that of the command line, else the only one of the namespace.
	Cluster string `json:"cluster,omitempty"`
}

// file is a file of sites.
type file struct {
	Sites []Site `json:"sites"`
}

// read reads a file of sites.
func read(path string) ([]Site, error) {
	text, err := limit.File(path, limit.Small)
	if err != nil {
		return nil, err
	}
	var f file
	if err := sigsyaml.UnmarshalStrict(text, &f); err != nil {
		return nil, fmt.Errorf("invalid YAML: %w", err)
	}
	for i := range f.Sites {
		if f.Sites[i].Name == "" {
			f.Sites[i].Name = f.Sites[i].Context
		}
	}
	return f.Sites, check(f.Sites)
}

// check requires sites with different names and resources.
func check(all []Site) error {
	if len(all) == 0 {
		return errors.New("at least one site is required")
	}
	names, resources := map[string]bool{}, map[Site]string{}
	for i, s := range all {
		at := Site{Context: s.Context, Namespace: s.Namespace, Cluster: s.Cluster}
		switch {
		case s.Context == "":
			return fmt.Errorf("site %d: context is required", i+1)
		case names[s.Name]:
			return fmt.Errorf("site %s: duplicate name", s.Name)
		case resources[at] != "":
			return fmt.Errorf("site %s: is the same as %s", s.Name, resources[at])
		}
		names[s.Name], resources[at] = true, s.Name
	}
	return nil
}
