package updating_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/updating"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Update goes by what is remembered in a cluster without limits on spot nodes, until the first limits come.
func TestUpdateUntilSpotLimitsCome(t *testing.T) {
	s := &planning.Snapshot{Vocabulary: requirements.CoreVocabulary()}
	for i := range 10 {
		s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("p-%d", i), Annotations: map[string]string{v1.WorkloadAnnotationKey: "w"},
		}})
	}
	m, err := model.Compile(s)
	if err != nil || m.Kept != nil {
		t.Fatal("Compile remembers what nobody may need", err)
	}
	again := *s
	if m, err = updating.Update(m, &again); err != nil || m.Spot != nil || m.Kept == nil {
		t.Fatal("Update remembers nothing", err)
	}
	limited := again
	limited.Pods = append([]*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "l", Annotations: map[string]string{v1.SpotMaxShareAnnotationKey: "50%"}}}}, s.Pods...)
	if m, err = updating.Update(m, &limited); err != nil || m.Spot == nil || m.Kept != nil {
		t.Error("limits that come are not noticed", err)
	}
}
