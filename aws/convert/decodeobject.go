package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/fieldtypes"
	"github.com/drawknife/drawknife/internal/quantities"
)

// header contains the fields that identify the kind of an object, and the items of a list.
type header struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

// object reads one object, or the items of a list. inherited is the kind of the items of a typed list if they don't state one.
func (d *decoder) object(at Position, text []byte, inherited schema.GroupVersionKind) {
	if string(bytes.TrimSpace(text)) == "null" {
		return
	}
	if why := d.noObject(at, text); why != "" {
		d.without(at, conversion.CodeNoObject, at.Source, "is no Kubernetes object and was left out: "+why)
		return
	}
	var h header
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &h); err != nil {
		message := strings.TrimPrefix(err.Error(), "json: ")
		if faults := fieldtypes.Faults(text, reflect.TypeFor[header]()); len(faults) > 0 {
			message = strings.TrimSpace(faults[0].Path + " " + faults[0].Message)
		}
		d.problem(at, "", "a document is an object with apiVersion, kind and metadata: "+message)
		return
	}
	if h.APIVersion == "" {
		h.APIVersion = inherited.GroupVersion().String()
	}
	if h.Kind == "" {
		h.Kind = inherited.Kind
	}
	if h.Kind == "" || h.APIVersion == "" {
		d.problem(at, "", "must say what it is: give apiVersion and kind")
		return
	}
	version, err := schema.ParseGroupVersion(h.APIVersion)
	if err != nil {
		d.problem(at, h.Kind, err.Error())
		return
	}
	if of, isList := strings.CutSuffix(h.Kind, "List"); isList && (h.Items != nil || of == "") && at.Item == 0 {
		var inherited schema.GroupVersionKind
		if of != "" {
			inherited = version.WithKind(of)
		}
		for i, item := range h.Items {
			at.Item = i + 1
			d.object(at, item, inherited)
		}
		return
	}
	if len(d.documents) == MaxObjects {
		d.tooMuch(at, h.Kind, fmt.Sprintf("the input has more than %d objects: split it", MaxObjects))
		return
	}
	d.decode(at, text, version.WithKind(h.Kind))
}

func (d *decoder) decode(at Position, text []byte, kind schema.GroupVersionKind) {
	object := newObject(kind)
	if object == nil {
		foreign := &unstructured.Unstructured{}
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &foreign.Object); err != nil {
			d.problem(at, kind.Kind, strings.TrimPrefix(err.Error(), "json: "))
			return
		}
		foreign.SetGroupVersionKind(kind)
		if d.options.Strict {
			d.checkWorkload(at, text, kind, kind.Kind+"/"+foreign.GetName())
		}
		d.document(Document{Position: at, Object: foreign})
		return
	}
	if err := quantities.CheckJSON(text, reflect.TypeOf(object)); err != nil {
		var head struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		_ = sigsjson.UnmarshalCaseSensitivePreserveInts(text, &head) // errors are ignored, because the name is only used in the message
		for line := range strings.Lines(err.Error()) {
			d.problem(at, kind.Kind+"/"+head.Metadata.Name, strings.TrimSuffix(line, "\n"))
		}
		return
	}
	unknown, err := sigsjson.UnmarshalStrict(text, object)
	name := kind.Kind + "/" + object.GetName()
	if err != nil {
		faults := fieldtypes.Faults(text, reflect.TypeOf(object).Elem())
		for _, f := range faults {
			d.problem(at, name, f.Path+" "+f.Message)
		}
		if len(faults) == 0 {
			d.problem(at, name, strings.TrimPrefix(err.Error(), "json: "))
		}
		return
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	document := Document{Position: at, Object: object}
	for _, err := range unknown {
		path, isUnknown := unknownField(err)
		belongs := ""
		if _, isPool := object.(*api.NodePool); isPool && path == kubeletOfPool {
			document.kubelet = kubeletIn(text)
			belongs = ": write it as spec.kubelet of the EC2NodeClass"
			if d.options.Strict {
				document.strayed = err.Error() + belongs
			}
		}
		if d.options.Strict && document.strayed != err.Error()+belongs || !isUnknown {
			d.problem(at, name, err.Error()+belongs)
			continue
		}
		document.Warnings = append(document.Warnings, conversion.Warning{
			Code: conversion.CodeUnknownField, Severity: conversion.CodeUnknownField.Severity(), Object: name, Path: path,
			Message: "unknown field " + path + " ignored" + belongs,
		})
	}
	d.document(document)
}

// kubeletOfPool is the path of the kubelet block in NodePools of v1beta1. NodePools of v1 have no kubelet block.
const kubeletOfPool = "spec.template.spec.kubelet"

// kubeletIn returns the block at kubeletOfPool as text.
func kubeletIn(pool []byte) json.RawMessage {
	var in struct {
		Spec struct {
			Template struct {
				Spec struct {
					Kubelet json.RawMessage `json:"kubelet"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(pool, &in); err != nil {
		return nil
	}
	return in.Spec.Template.Spec.Kubelet
}

// unknownField returns the path in an error about an unknown field; ok is false for other errors.
func unknownField(err error) (path string, ok bool) {
	quoted, ok := strings.CutPrefix(err.Error(), "unknown field ")
	if !ok {
		return "", false
	}
	if path, err := strconv.Unquote(quoted); err == nil {
		return path, true
	}
	return quoted, true
}
