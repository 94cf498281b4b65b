"""Amounts of resources: what a pod asks for at its most.

Upstream: k8s.io/component-helpers/resource/helpers.go (PodRequests, PodLimits), k8s.io/apiserver/pkg/quota/v1.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.labels import key_faults
from render.model.apimachinery.quantity import Quantity
from render.model.tree import Tree

#: Resource -> quantity, as a Kubernetes resource list has it.
Amounts = dict[str, Quantity]
_MOST_ZEROS = 30
#: What the names of huge pages begin with, and what is in those of Kubernetes' own resources.
HUGE, NATIVE = "hugepages-", "kubernetes.io/"
#: What a quota writes before the name of a resource.
REQUESTED = "requests."


def read(resources: Tree | None) -> Amounts:
    """A Kubernetes resource list, rounded as the API server stores it."""
    return {
        name: _countable(quantity.in_thousandths(quantity.parse(amount)))
        for name, amount in (resources or {}).items()
    }


def _countable(amount: Quantity) -> Quantity:
    """*amount*, or what is as good as that where it has so many digits that no sum ends: ``1e999999999``."""
    return amount if amount.scale <= _MOST_ZEROS else amount._replace(scale=_MOST_ZEROS)


def is_extended(name: str) -> bool:
    """Whether *name* is that of a resource that Kubernetes itself does not know.

    Upstream: pkg/apis/core/helper/helpers.go (IsExtendedResourceName).
    """
    is_native = "/" not in name or NATIVE in name
    return not is_native and not name.startswith(REQUESTED) and not key_faults(REQUESTED + name)


def number(amount: Quantity) -> Fraction:
    """The number that *amount* is."""
    power = 10 ** abs(amount.scale)
    return (
        Fraction(amount.mantissa, power) if amount.scale < 0 else Fraction(amount.mantissa * power)
    )


def number_of(amounts: Mapping[str, Quantity], name: str) -> Fraction:
    """The number that *amounts* have under *name*, 0 if none."""
    amount = amounts.get(name)
    return Fraction() if amount is None else number(amount)


def text_of(amounts: Mapping[str, Quantity], name: str) -> str:
    """What *amounts* have under *name* as Kubernetes prints it, ``0`` if nothing."""
    amount = amounts.get(name)
    return "0" if amount is None else quantity.text_of(amount)


def add(left: Amounts, right: Amounts) -> Amounts:
    """The sum of two lists of resources."""
    total = dict(left)
    _add_to(total, right)
    return total


def _add_to(total: Amounts, part: Amounts) -> None:
    for name, amount in part.items():
        total[name] = quantity.plus(total[name], amount) if name in total else amount


def times(part: Amounts, count: int) -> Amounts:
    """The sum of *count* lists of resources that are alike."""
    return (
        {
            name: amount._replace(mantissa=amount.mantissa * count, kept="")
            for name, amount in part.items()
        }
        if count != 1
        else part
    )


def most(left: Amounts, right: Amounts) -> Amounts:
    """The larger of two amounts of each resource."""
    total = dict(left)
    for name, amount in right.items():
        if name not in total or quantity.order(amount, total[name]) > 0:
            total[name] = amount
    return total


def sums(parts: Iterable[Amounts]) -> Amounts:
    """The sum of many lists of resources."""
    total: Amounts = {}
    for part in parts:
        _add_to(total, part)
    return total


def of_container(container: Tree, key: str) -> Amounts:
    """What *container* has in its ``requests`` or ``limits``, as *key* says."""
    return read(tree.get(container, "resources", key))


def of_pod(spec: Tree, key: str) -> Amounts:
    """What a pod *spec* asks for at its most: ``requests`` or ``limits`` as *key* says.

    Containers and init containers that restart run together; each of the others runs with those that came before it.
    """
    total = sums(of_container(container, key) for container in spec.get("containers") or ())
    restarting: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = of_container(container, key)
        if container.get("restartPolicy") == "Always":
            total, restarting = add(total, own), add(restarting, own)
            own = restarting
        else:
            own = add(own, restarting)
        peak = most(peak, own)
    total = most(total, peak)
    overhead = read(spec.get("overhead"))
    if key == "requests":
        return add(total, overhead)
    # A limit that nobody set does not become one.
    return add(total, {name: amount for name, amount in overhead.items() if name in total})


def defaulted(spec: Tree) -> Tree:
    """A pod *spec* after the API server's own defaults: what is limited and not requested is requested.

    Upstream: pkg/apis/core/v1/defaults.go (SetDefaults_Pod).
    """
    groups = {
        key: [_requested(container) for container in spec[key]]
        for key in ("containers", "initContainers")
        if spec.get(key)
    }
    return {**spec, **groups}


def _requested(container: Tree) -> Tree:
    resources = container.get("resources") or {}
    if not resources.get("limits"):
        return container
    requests = {**resources["limits"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}


def listed(amounts: Amounts) -> str:
    """A list of resources as Kubernetes prints it: ``cpu=1,memory=2Gi``."""
    return ",".join(f"{name}={quantity.text_of(amounts[name])}" for name in sorted(amounts))


def readable(amounts: Amounts) -> str:
    """As `listed`, with what are only bytes there in ``Gi`` or ``Mi``, rounded up to hundredths."""
    texts = ((name, quantity.text_of(amounts[name])) for name in sorted(amounts))
    return ",".join(
        f"{name}={_readable(text) if _is_bytes(name) else text}" for name, text in texts
    )


def _is_bytes(name: str) -> bool:
    resource = name.rpartition(".")[2]
    return resource in ("memory", "ephemeral-storage") or resource.startswith(HUGE)


def _readable(text: str) -> str:
    if not text.isdigit() or int(text) < 1 << 20:
        return text
    shift, unit = (30, "Gi") if int(text) >= 1 << 30 else (20, "Mi")
    whole, hundredths = divmod(-(-int(text) * 100 >> shift), 100)
    return f"{whole}.{hundredths:02}".rstrip("0").rstrip(".") + unit
