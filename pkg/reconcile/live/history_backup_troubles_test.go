package live_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// backupProblem is one thing that happens to backups between passes.
type backupProblem struct {
	name   string
	happen func(*backupHistory, *rand.Rand)
}

func one[T any](dice *rand.Rand, of ...T) T { //nolint:ireturn // what it is given
	return of[dice.IntN(len(of))]
}

// theirs is where users who know nothing of the records have their backups go.
const theirs = "blobstore://key@store:443/theirs?bucket=fdb-backups&region=eu"

var backupProblems = []backupProblem{
	{"nothing happens", func(*backupHistory, *rand.Rand) {}},
	{"the spec has another state", func(h *backupHistory, dice *rand.Rand) {
		state := one(dice, v1beta2.BackupStateRunning, v1beta2.BackupStateStopped, v1beta2.BackupStatePaused)
		h.edit(one(dice, backupNames...), func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = state })
	}},
	{"the spec names another tag", func(h *backupHistory, dice *rand.Rand) {
		tag := one[v1beta2.BackupTag](dice, "default", "weekly", "monthly")
		h.edit(one(dice, backupNames...), func(b *v1beta2.FoundationDBBackupSpec) { b.Tag = &tag })
	}},
	{"the spec names another place", func(h *backupHistory, dice *rand.Rand) {
		name := one(dice, backupNames...)
		h.edit(name, func(b *v1beta2.FoundationDBBackupSpec) {
			b.BlobStoreConfiguration.BackupName = one(dice, "", name+"-b")
		})
	}},
	{"the spec has another period", func(h *backupHistory, dice *rand.Rand) {
		h.edit(one(dice, backupNames...), func(b *v1beta2.FoundationDBBackupSpec) { b.SnapshotPeriodSeconds = new(one(dice, 60, 3600)) })
	}},
	{"the spec has another number of agents", func(h *backupHistory, dice *rand.Rand) {
		h.edit(one(dice, backupNames...), func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(dice.IntN(3)) })
	}},
	{"the spec has another deletion policy", func(h *backupHistory, dice *rand.Rand) {
		policy := one(dice, v1beta2.BackupDeletionPolicyNoop, v1beta2.BackupDeletionPolicyStop, v1beta2.BackupDeletionPolicyCleanup)
		h.edit(one(dice, backupNames...), func(b *v1beta2.FoundationDBBackupSpec) { b.DeletionPolicy = &policy })
	}},
	{"a record is deleted, or recreated", func(h *backupHistory, dice *rand.Rand) { h.deleteOrCreate(one(dice, backupNames...)) }},
	{"agents end", func(h *backupHistory, dice *rand.Rand) {
		for _, name := range slices.Sorted(maps.Keys(h.agents)) {
			if dice.IntN(3) > 0 {
				h.endAgent(name)
			}
		}
	}},
	{"a user starts a backup manually", func(h *backupHistory, dice *rand.Rand) { h.strangeBackup(one(dice, "default", "weekly", "monthly")) }},
	{"a user aborts a backup manually", func(h *backupHistory, dice *rand.Rand) {
		h.byHand("fdbbackup", "abort", "-t", one(dice, "default", "weekly", "monthly"))
	}},
	{"a user pauses the agents manually", func(h *backupHistory, _ *rand.Rand) { h.byHand("fdbbackup", "pause") }},
	{"commands fail", func(h *backupHistory, dice *rand.Rand) { h.failing = 1 + dice.IntN(3) }},
	{"commands work, and their answers are lost", func(h *backupHistory, dice *rand.Rand) { h.unheard = 1 + dice.IntN(3) }},
	{"no command gets into pods", func(h *backupHistory, dice *rand.Rand) { h.deaf = 1 + dice.IntN(6) }},
	{"the plugin is killed before an action", func(h *backupHistory, dice *rand.Rand) { h.killAt, h.killLate = 1+dice.IntN(3), false }},
	{"the plugin is killed after an action", func(h *backupHistory, dice *rand.Rand) { h.killAt, h.killLate = 1+dice.IntN(3), true }},
	{"all data is deleted", func(h *backupHistory, _ *rand.Rand) { h.deleteData() }},
	{"a user writes data", func(h *backupHistory, _ *rand.Rand) {
		h.byHand("fdbcli", "-C", agentClusterFile, "--exec", "writemode on; set greeting hello")
	}},
	{"a user aborts the restore manually", func(h *backupHistory, _ *rand.Rand) {
		h.byHand("fdbrestore", "abort", "-t", "default", "--dest-cluster-file", agentClusterFile)
	}},
	{"the restore is requested again", func(h *backupHistory, _ *rand.Rand) { h.restoreAnew() }},
}

func (h *backupHistory) strangeBackup(tag string) {
	h.byHand("fdbbackup", "start", "-t", tag, "-d", theirs, "-z")
}

func (h *backupHistory) deleteData() {
	h.byHand("fdbcli", "-C", agentClusterFile, "--exec", `writemode on; clearrange "" \xff`)
}

func (h *backupHistory) restoreAnew() {
	r := newRestore(func(r *v1beta2.FoundationDBRestore) { r.UID = h.newUID() })
	if err := h.api.Delete(h.t.Context(), r.DeepCopy()); err != nil && !apierrors.IsNotFound(err) {
		h.t.Fatal(err)
	}
	h.put(r)
}
