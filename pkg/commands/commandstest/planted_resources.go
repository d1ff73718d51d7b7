package commandstest

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// PlantedAgents adds secrets to the deployment of agents, and to their pods.
func (v *Vault) PlantedAgents() {
	v.T.Helper()
	pods, deployments := &corev1.PodList{}, &appsv1.DeploymentList{}
	if err := v.API.List(v.T.Context(), pods); err != nil || len(pods.Items) == 0 {
		v.T.Fatalf("%d pods of agents: %v", len(pods.Items), err)
	}
	if err := v.API.List(v.T.Context(), deployments); err != nil || len(deployments.Items) == 0 {
		v.T.Fatalf("%d deployments: %v", len(deployments.Items), err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		PlantedPods(&pod.ObjectMeta, &pod.Spec)
		if err := v.API.Update(v.T.Context(), pod); err != nil {
			v.T.Fatal(err)
		}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Planted", Status: corev1.ConditionFalse})
		PlantTexts(reflect.ValueOf(&pod.Status))
		if err := v.API.Status().Update(v.T.Context(), pod); err != nil {
			v.T.Fatal(err)
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse})
		PlantTexts(reflect.ValueOf(&d.Status))
		if err := v.API.Status().Update(v.T.Context(), d); err != nil {
			v.T.Fatal(err)
		}
	}
}

// ExposedNothing looks at what a command printed, and returns whether any of it was planted.
func (g *Given) ExposedNothing(line string) (reached bool) {
	g.T.Helper()
	for stream, text := range map[string]string{"stdout": g.Out.String(), "stderr": g.Err.String()} {
		if found := Exposed(text); found != "" {
			g.T.Errorf("%s: %s has %s", line, stream, found)
		}
	}
	return strings.Contains(g.Out.String()+g.Err.String(), "planted")
}

// KeepsNothing looks at Events and at the files of runs.
func (g *Given) KeepsNothing() {
	g.T.Helper()
	for _, e := range g.Events {
		if found := Exposed(e.Message); found != "" {
			g.T.Errorf("an Event has %s", found)
		}
	}
	KeptNothing(g.T, g.Env["XDG_STATE_HOME"])
}
