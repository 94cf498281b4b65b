from tests.support.turns import dealt


def of_file(item: str) -> str:
    return item[0]


def test_each_process_has_its_share_of_what_comes_last() -> None:
    items = ["a1", "a2", "a3", "x1", "x2", "b1", "c1", "y1", "y2", "y3"]
    assert dealt(items, 1, group=of_file, is_last=lambda item: item[0] in "xy") == [
        "a1", "a2", "a3", "b1", "c1", "x1", "x2", "y1", "y2", "y3",
    ]  # fmt: skip
    assert dealt(items, 2, group=of_file, is_last=lambda item: item[0] in "xy") == [
        "a1", "a2", "a3", "x1", "x2",
        "b1", "c1", "y1", "y2", "y3",
    ]  # fmt: skip


def test_nothing_is_lost_where_no_part_is_left_for_it() -> None:
    items = ["a1", "a2", "a3", "a4", "x1", "b1"]
    assert dealt(items, 2, group=of_file, is_last=lambda item: item == "x1") == [
        "a1", "a2", "a3", "a4", "b1", "x1",
    ]  # fmt: skip
