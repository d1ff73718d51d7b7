package recovery

// manual returns what to do where recover apply does nothing, in order.
func manual(cluster string, f Facts, a Assessment, command func(words ...string) string) []string {
	switch a.Kind {
	case NothingLost:
		return moreSpace(f.Outage)
	case PodsLost:
		return []string{
			"delete no PVC",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case VolumesReleased:
		return []string{
			"delete no PersistentVolume, and run no pass meanwhile: it creates empty PVCs",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case CoordinatorsLost:
		return []string{
			"recover the nodes and volumes of the lost coordinators first: a majority of them is enough",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
			"only if they are permanently lost, restore a backup into a new cluster: " + command("restore", "start", "--help"),
		}
	case DatabaseDown:
		return withoutDatabase(cluster, f, command)
	case RegionLost:
		return []string{
			"delete no PVC and no process group of any resource of the database",
			"bring back a majority of coordinators: in the namespace, and with the kubeconfig context, of each resource whose process groups are the coordinators above, kubectl fdb recover plan NAME",
			"then verify the result: " + command("recover", "verify", cluster, "--wait"),
			"only if they are permanently lost, restore a backup into a new cluster: " + command("restore", "start", "--help"),
		}
	case CoordinatorsMoved:
		return []string{
			"delete no PVC and no process group, and stop operators: " + command("pause", cluster),
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case Undetermined:
	}
	return []string{"explain what blocks the cluster: " + command("why", cluster), "explain each coordinator: " + command("coordinators", "repair", cluster, "--dry-run")}
}
