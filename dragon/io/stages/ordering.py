"""What several workers answer, in the order in which they were asked."""


def in_order(answers):
    """Yield the values of pairs of a number and a value by the numbers, which count from 0 on and come in any order."""
    early, wanted = {}, 0
    for number, value in answers:
        if number != wanted:
            early[number] = value
            continue
        yield value
        wanted += 1
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1
