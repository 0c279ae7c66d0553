package generations

import (
	"errors"
	"fmt"
	"log/slog"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/convert"
)

// Options of Serve.
type Options struct {
	// Legacy are the global settings of v1alpha5. Nil means that no such settings are known.
	Legacy *convert.LegacySettings
	// Logger receives reports about objects that are ignored; nil discards the reports.
	Logger *slog.Logger
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock
}

// AddToScheme adds the kinds of v1alpha5 to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(v1alpha5.AddToScheme(scheme), awsv1alpha1.AddToScheme(scheme))
}

// kinds says which v1alpha5 kinds the cluster has.
type kinds struct{ provisioners, machines, templates bool }

// any reports whether the cluster has any of these kinds.
func (k kinds) any() bool { return k.provisioners || k.machines || k.templates }

// pools reports whether Provisioners are managed. This also needs the kind Machine, in which their instances are stored.
func (k kinds) pools() bool { return k.provisioners && k.machines }

// These kinds are watched, and events are published on their objects.
var (
	provisionerKind = v1alpha5.GroupVersion().WithKind(v1alpha5.KindProvisioner)
	machineKind     = v1alpha5.GroupVersion().WithKind(v1alpha5.KindMachine)
	templateKind    = awsv1alpha1.GroupVersion().WithKind(awsv1alpha1.KindAWSNodeTemplate)
)

func kindsOf(mapper meta.RESTMapper) (out kinds, err error) {
	for kind, has := range map[schema.GroupVersionKind]*bool{provisionerKind: &out.provisioners, machineKind: &out.machines, templateKind: &out.templates} {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil && !meta.IsNoMatchError(err) {
			return out, fmt.Errorf("cannot check whether the cluster has %s: %w", kind.Kind, err)
		}
		*has = err == nil
	}
	return out, nil
}

// Serve returns a manager for reconcilers of v1 that also contains converted v1alpha5 objects, if the cluster has the kinds. It adds
// reconcilers to mgr that publish events and conditions on v1alpha5 objects. The scheme of mgr must have these kinds: see AddToScheme.
// Kinds that are installed later are not served before the program restarts.
func Serve(mgr ctrl.Manager, o Options) (ctrl.Manager, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	out, err := view(mgr, o)
	if err != nil || out == nil {
		return mgr, err
	}
	return out, addWatchers(mgr, out.translator, o)
}

// View is like Serve but adds nothing to mgr, so no Provisioner becomes Active. Use it to read only, or with your own events and
// conditions.
func View(mgr ctrl.Manager, o Options) (ctrl.Manager, error) {
	out, err := view(mgr, o)
	if err != nil || out == nil {
		return mgr, err
	}
	return out, nil
}

// view returns the manager for objects of v1 and v1alpha5, or nil if the cluster has none of the v1alpha5 kinds.
func view(mgr ctrl.Manager, o Options) (*manager, error) {
	has, err := kindsOf(mgr.GetRESTMapper())
	if err != nil || !has.any() {
		return nil, err
	}
	t := newTranslator(has, o.Legacy)
	return &manager{
		Manager: mgr, translator: t,
		client: newClient(mgr.GetClient(), mgr.GetAPIReader(), t),
		reader: &reader{base: mgr.GetAPIReader(), translator: t},
		cache:  &informers{Cache: mgr.GetCache(), reader: &reader{base: mgr.GetCache(), translator: t}},
	}, nil
}

// manager is a ctrl.Manager whose client, reader and cache read and write objects of v1 and of v1alpha5.
type manager struct {
	ctrl.Manager
	*translator
	client *translating
	reader *reader
	cache  *informers
}

// GetClient returns the client: it reads from the cache.
func (m *manager) GetClient() client.Client { return m.client }

// GetAPIReader returns a reader without a cache.
func (m *manager) GetAPIReader() client.Reader { return m.reader }

// GetCache returns the cache with its informers.
func (m *manager) GetCache() cache.Cache { return m.cache }

// GetFieldIndexer returns an indexer for objects of both generations.
func (m *manager) GetFieldIndexer() client.FieldIndexer {
	return &indexer{base: m.Manager.GetFieldIndexer(), translator: m.translator}
}

// GetEventRecorder returns a recorder for events on the stored objects.
func (m *manager) GetEventRecorder(name string) recorder.EventRecorder {
	return &teller{EventRecorder: m.Manager.GetEventRecorder(name), machines: m.Manager.GetClient(), has: m.has}
}
