package recovery

// manual returns what to do where recover apply does nothing, in order.
func manual(cluster string, f Facts, a Assessment, command func(words ...string) string) []string {
	switch a.Kind {
	case NothingLost:
		return []string{}
	case PodsLost:
		return []string{
			"delete no PVC",
			"recreate the pods on their own PVCs: " + command("reconcile", cluster, "--wait"),
			"then, if no quorum answers: " + command("recover", "collect", cluster),
		}
	case VolumesReleased:
		return []string{
			"delete no PersistentVolume, and set persistentVolumeReclaimPolicy of those listed to Retain",
			"remove spec.claimRef.uid and spec.claimRef.resourceVersion of each released volume, so that only a PVC of the same name can be bound to it",
			"create each PVC with its name, and spec.volumeName set to the volume",
			"recreate the pods: " + command("reconcile", cluster, "--wait"),
		}
	case CoordinatorsLost:
		return []string{
			"recover the nodes and volumes of the lost coordinators first: a majority of them is enough",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
			"only if they are permanently lost, restore a backup into a new cluster: " + command("restore", "start", "--help"),
		}
	case DatabaseDown:
		return withoutDatabase(cluster, f, a, command)
	case CoordinatorsMoved:
		return []string{
			"delete no PVC and no process group, and stop operators: " + command("pause", cluster),
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case Undetermined:
	}
	return []string{"explain what blocks the cluster: " + command("why", cluster), "explain each coordinator: " + command("coordinators", "repair", cluster, "--dry-run")}
}
