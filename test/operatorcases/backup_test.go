package operatorcases

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// compareDeployment compares the deployment of backup agents, and its hash.
func compareDeployment(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in v1beta2.FoundationDBBackup
	var out struct {
		Deployment *appsv1.Deployment `json:"deployment"`
		Err        string             `json:"err"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	operator, ours = opcases.Outcome{"spec": refused}, opcases.Outcome{"spec": refused}
	if out.Err == "" {
		operator = deploymentOutcome(out.Deployment)
	}
	if made, err := objects.AgentDeployment(&in); err == nil {
		ours = deploymentOutcome(made)
	}
	return operator, ours, nil
}

func deploymentOutcome(d *appsv1.Deployment) opcases.Outcome {
	if d == nil {
		return opcases.Outcome{}
	}
	hash := d.Annotations[v1beta2.AnnotationLastAppliedSpec]
	delete(d.Annotations, v1beta2.AnnotationLastAppliedSpec)
	return opcases.Outcome{"hash": hash, "spec": opcases.JSON(d.Spec), "metadata": opcases.JSON(d.ObjectMeta)}
}

// compareBackupURL compares the destination of a backup.
func compareBackupURL(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.FoundationDBBackup `json:"self"`
	}
	return compareURL(c, &in, func() (string, error) { return objects.BackupURL(&in.Self) })
}

// compareRestoreURL compares the source of a restore.
func compareRestoreURL(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.FoundationDBRestore `json:"self"`
	}
	return compareURL(c, &in, func() (string, error) { return objects.RestoreURL(&in.Self) })
}

func compareURL(c opcases.Case, in any, url func() (string, error)) (operator, ours opcases.Outcome, err error) {
	var out struct {
		R0  string          `json:"r0"`
		Err opcases.Failure `json:"err"`
	}
	if err := c.Decode(in, &out); err != nil {
		return nil, nil, err
	}
	operator, ours = opcases.Outcome{"url": out.R0}, opcases.Outcome{"url": refused}
	if out.Err != "" {
		operator["url"] = refused
	}
	if made, err := url(); err == nil {
		ours["url"] = made
	}
	return operator, ours, nil
}
