package commandstest

// Group returns the ID of the first process group of a class.
func (v *Vault) Group(class string) string {
	for _, g := range v.Cluster.Resource.Status.ProcessGroups {
		if string(g.ProcessClass) == class {
			return string(g.ProcessGroupID)
		}
	}
	v.T.Fatalf("no %s process group", class)
	return ""
}
