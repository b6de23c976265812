import threading

import pytest

from lakebed.table.spreading import threads
from support.table_builder import Shape, build_table


@pytest.mark.parametrize("count", ["1", "3"])
def test_results_come_in_the_order_of_the_values(count: str) -> None:
    parts = build_table(Shape(), session={"lakebed.read.threads": count}).table.parts()
    with threads(parts) as spread:
        assert list(spread(lambda number: number * 2, range(20))) == list(range(0, 40, 2))


def test_one_thread_is_the_callers_own_and_stops_at_the_first_error() -> None:
    parts = build_table(Shape(), session={"lakebed.read.threads": "1"}).table.parts()
    ran: list[tuple[int, int]] = []

    def work(number: int) -> None:
        ran.append((number, threading.get_ident()))
        if number == 2:
            raise ValueError

    with threads(parts) as spread, pytest.raises(ValueError):  # noqa: PT011 - the one above
        list(spread(work, range(5)))
    assert ran == [(number, threading.get_ident()) for number in range(3)]


def test_several_threads_work_at_once() -> None:
    parts = build_table(Shape(), session={"lakebed.read.threads": "2"}).table.parts()
    meeting = threading.Barrier(2, timeout=60)
    with threads(parts) as spread:
        list(spread(lambda _: meeting.wait(), range(2)))
