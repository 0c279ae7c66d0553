#!/usr/bin/env bash
# Compares the manifests of a base commit with those of the working tree, and judges the change by a policy. It runs in the root of a git
# repository, and ends with the exit status of drawknife diff (docs/gate.md). The GitHub Action and the GitLab template here run it.
#
#	DRAWKNIFE     the program
#	GATE_BASE     the commit to compare with
#	GATE_POLICY   the file of the policy
#	GATE_PATH     a file or folder of manifests, in both trees
#	GATE_RENDER   a command that prints the manifests instead, such as "kubectl kustomize overlays/prod"; it runs in both trees
#	GATE_CLUSTER  a file with a cluster that the manifests are applied to; optional
#	GATE_ARGS     further arguments of drawknife diff, separated by spaces; optional
#	GATE_OUT      the folder for comment.md, gate.sarif, gate.xml, gate.json and messages.txt
set -euo pipefail

fail() {
	printf 'gate: %s\n' "$1" >&2
	exit 1
}

for name in DRAWKNIFE GATE_BASE GATE_POLICY GATE_OUT; do
	[[ -n ${!name:-} ]] || fail "$name is not set"
done
[[ -n ${GATE_PATH:-}${GATE_RENDER:-} ]] || fail "set a path of manifests, or a command that renders them"

mkdir -p "$GATE_OUT"
rm -f "$GATE_OUT"/{comment.md,gate.sarif,gate.xml,gate.json,messages.txt} # those of an earlier run
out=$(cd "$GATE_OUT" && pwd)
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/base" 2>/dev/null || true; rm -rf "$scratch"' EXIT

if ! git cat-file -e "$GATE_BASE^{commit}" 2>/dev/null; then
	git fetch --quiet --no-tags --depth=1 origin "$GATE_BASE" || fail "cannot fetch the base commit $GATE_BASE"
fi
git worktree add --quiet --detach "$scratch/base" "$GATE_BASE"

before=$scratch/base/${GATE_PATH:-}
after=${GATE_PATH:-}
if [[ -n ${GATE_RENDER:-} ]]; then
	before=$scratch/before.yaml after=$scratch/after.yaml
	(cd "$scratch/base" && bash -euo pipefail -c "$GATE_RENDER") >"$before" || fail "the base commit cannot be rendered: $GATE_RENDER"
	bash -euo pipefail -c "$GATE_RENDER" >"$after" || fail "the change cannot be rendered: $GATE_RENDER"
elif [[ ! -e $before ]]; then
	before=$scratch/before.yaml
	printf 'apiVersion: v1\nkind: List\nitems: []\n' >"$before" # the change adds all manifests
fi

inputs=()
[[ -z ${GATE_CLUSTER:-} ]] || inputs+=("$GATE_CLUSTER")
read -r -a more <<<"${GATE_ARGS:-}" || true
status=0
"$DRAWKNIFE" diff --quiet --policy "$GATE_POLICY" --report "markdown=$out/comment.md" --report "sarif=$out/gate.sarif" \
	--report "junit=$out/gate.xml" --report "json=$out/gate.json" "${more[@]}" -- "${inputs[@]}" "$before" "$after" \
	2> >(tee "$out/messages.txt" >&2) || status=$?
wait # for tee

if [[ ! -s $out/comment.md ]]; then
	{
		printf '**The change could not be judged** (exit status %d).\n\n```text\n' "$status"
		head -c 20000 "$out/messages.txt" | sed 's/```/` ` `/g'
		printf '```\n'
	} >"$out/comment.md"
fi
exit "$status"
