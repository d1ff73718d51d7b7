package realdb

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// backup is a backup of the cluster, to the store at an address without encryption. Its credentials are
// in a file of the agents.
func (c *cluster) backup(address string) string {
	host, _, _ := strings.Cut(address, ":")
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: backup-credentials}
stringData:
  credentials: |
    {"accounts": {"journey@%s": {"secret": "no-secret"}}}
---
apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBBackup
metadata: {name: nightly}
spec:
  version: %s
  clusterName: %s
  agentCount: 1
  snapshotPeriodSeconds: 86400
%s  podTemplateSpec:
    spec:
      volumes:
      - name: credentials
        secret: {secretName: backup-credentials}
      containers:
      - name: foundationdb
        resources: {requests: {cpu: 10m, memory: 16Mi}}
        env:
        - {name: FDB_BLOB_CREDENTIALS, value: /var/credentials/credentials}
        volumeMounts:
        - {name: credentials, mountPath: /var/credentials, readOnly: true}
`, host, newest(), c.name, destination(address))
}

// restore restores that backup into its own cluster.
func (c *cluster) restore(address string) string {
	return fmt.Sprintf(`apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBRestore
metadata: {name: again}
spec:
  destinationClusterName: %s
%s`, c.name, destination(address))
}

func destination(address string) string {
	return fmt.Sprintf(`  blobStoreConfiguration:
    accountName: journey@%s
    backupName: nightly
    urlParameters: [secure_connection=0, region=journey]
`, address)
}

// backUpAndRestore backs a database up to a store of this test, deletes all its data, and restores it.
// What was written after the snapshot began is restored from the log.
func backUpAndRestore(t *test) {
	s, address := startStore(t)
	c := create(t, "backed", doubled)
	c.mark(t, t.Name())
	c.apply(t, c.backup(address))
	c.plugin(t, "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "5m")
	c.mark(t, t.Name()+"-later")
	written, err := strconv.ParseInt(strings.TrimSpace(c.fdbcli(t, "getversion")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Minute, func() string {
		text := c.plugin(t, "backup", "status", "nightly", "-o", "json")
		restorable := decode[struct{ LatestRestorable *struct{ Version int64 } }](t, text).LatestRestorable
		if restorable == nil || restorable.Version < written {
			return fmt.Sprintf("nothing as new as version %d can be restored: %s", written, text)
		}
		return ""
	})
	if objects, size := s.size(); objects == 0 || size == 0 {
		t.Errorf("the backup can be restored, and the store has %d objects with %d bytes", objects, size)
	}
	c.agreesOnTheBackup(t)
	c.plugin(t, "backup", "describe", "nightly")

	c.fdbcli(t, `writemode on; clearrange "" \xff`)
	if left := c.fdbcli(t, `getrange "" \xff 10`); strings.Contains(left, "marker") {
		t.Fatalf("the data was not deleted: %s", left)
	}
	c.apply(t, c.restore(address))
	c.plugin(t, "restore", "start", "again", "--yes", "--wait", "--timeout", "5m")
	c.verify(t)
	c.plugin(t, "backup", "stop", "nightly", "--yes", "--wait", "--timeout", "3m")
	c.settled(t)
	c.discard(t)
}

// agreesOnTheBackup asks the real fdbbackup in the pod of an agent whether the backup can be restored.
func (c *cluster) agreesOnTheBackup(t *test) {
	t.Helper()
	agent := strings.TrimSpace(must(t, "kubectl", "get", "pods", "-n", c.ns, "-l", "foundationdb.org/deployment-name=nightly-backup-agents", "-o", "jsonpath={.items[0].metadata.name}"))
	actual := must(t, "kubectl", "exec", "-n", c.ns, agent, "--", "fdbbackup", "status", "-t", "default")
	if !strings.Contains(actual, "is restorable") {
		t.Errorf("backup status has a version to restore, and fdbbackup prints: %s", actual)
	}
}

// plugin runs a command of the plugin about another resource than the cluster, which has to succeed.
func (c *cluster) plugin(t *test, args ...string) string {
	t.Helper()
	return must(t, "kubectl", append([]string{"fdb", "-n", c.ns}, args...)...)
}
