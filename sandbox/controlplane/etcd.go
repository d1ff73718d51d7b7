package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// walSegmentBytes replaces etcd's default of 64 MiB, of which it preallocates two.
const walSegmentBytes = 4 << 20

// etcdReadyLimit bounds the wait for etcd, which takes about 0.1 s.
const etcdReadyLimit = time.Minute

// startEtcd runs etcd in this process. It listens on a unix socket in
// socketDir and on no TCP port; the modes of the directory protect it.
func startEtcd(ctx context.Context, dataDir, socketDir string) (*embed.Etcd, string, error) {
	wal.SegmentSizeBytes = walSegmentBytes
	client := url.URL{Scheme: "unix", Path: filepath.Join(socketDir, "etcd.sock")}
	cfg := embed.NewConfig()
	cfg.Dir = dataDir
	cfg.ListenClientUrls = []url.URL{client} // the advertised URL stays the default: etcd refuses unix paths there
	cfg.ListenPeerUrls = nil                 // a single member has no peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "panic" // its first start and every stop log errors that mean nothing
	cfg.TickMs, cfg.ElectionMs = 10, 100
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, etcdReadyLimit)
	defer cancel()
	select {
	case <-e.Server.ReadyNotify():
		return e, client.String(), nil
	case <-ctx.Done():
		e.Close()
		return nil, "", errors.New("etcd did not become ready")
	}
}
