package dump

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Writer returns a function that writes a dump of a cluster while another command runs, with one
// status document. It replaces an earlier file of the path.
func Writer(run Runner) func(ctx context.Context, env *session.Env, key types.NamespacedName, path string, logBytes int64) error {
	return func(ctx context.Context, env *session.Env, key types.NamespacedName, path string, logBytes int64) error {
		api, err := env.Client()
		if err != nil {
			return err
		}
		cluster, err := env.Read(ctx, api, key)
		if err != nil {
			return err
		}
		o := options{run: run, file: path, force: true}
		c, err := newCollector(env, o, []session.Cluster{*cluster})
		if err != nil {
			return err
		}
		if err := c.collect(ctx, logBytes); err != nil {
			return err
		}
		_, err = o.save(c.dump, path)
		return err
	}
}
