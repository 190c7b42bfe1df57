"""The pieces of the contrary broker that a run of the suite would blame on something else: bytes, options, the table of choices."""
import json
import re
import unittest
from pathlib import Path

import frames
import options
from frames import Frame
from manners import CHOICES, Manners


def bodies_of(splitter: frames.Splitter) -> list:
    return list(iter(splitter.next, None))


class FramesTest(unittest.TestCase):
    frame = Frame(frames.PUBLISH, 'é-1', 'orders', b'{"a":1}', [('k', 'v'), ('k', 'w')])

    def test_a_body_is_read_as_it_was_written(self) -> None:
        self.assertEqual(frames.decoded(frames.encoded(self.frame)[5:]), self.frame)
        self.assertEqual(self.frame.header('k'), 'w')

    def test_a_body_that_breaks_off_anywhere_is_broken(self) -> None:
        body = frames.encoded(self.frame)[5:]
        for length in range(len(body)):
            with self.assertRaises(frames.BrokenBody):
                frames.decoded(body[:length])

    def test_a_stream_is_cut_alike_whatever_its_pieces(self) -> None:
        stream = frames.encoded(self.frame) + b'\0\0\0\1\0x' + b'\0\0\0\2\7xx' + frames.encoded(self.frame)
        for size in (1, 3, len(stream)):
            splitter, found = frames.Splitter(1000), []
            for at in range(0, len(stream), size):
                splitter.feed(stream[at:at + size])
                found += bodies_of(splitter)
            kinds = [one.is_size if isinstance(one, frames.Fault) else 'body' for one in found]
            self.assertEqual(kinds, ['body', True, False, 'body'])

    def test_text_that_is_no_utf_8_survives(self) -> None:
        body = frames.encoded(Frame(frames.PING, b'a\x80'.decode('utf-8', 'surrogateescape')))[5:]
        self.assertFalse(frames.is_text(frames.decoded(body).id))
        self.assertEqual(frames.encoded(frames.decoded(body))[5:], body)


class OptionsTest(unittest.TestCase):
    def test_options_left_out_have_the_defaults(self) -> None:
        self.assertEqual(options.read_options(b'{}', 'q'), (options.Options(), False, False))

    def test_impossible_options_are_told_and_mended(self) -> None:
        for payload in (b'{"maxQueueSize":0}', b'{"mode":"Anycast"}', b'{"messageTtl":"-00:00:01"}', b'{"overflowStrategy":3}'):
            mended, is_impossible, _ = options.read_options(payload, 'q')
            self.assertTrue(is_impossible, payload)
            self.assertGreaterEqual(mended.max_size, 1)

    def test_options_of_the_wrong_type_are_useless(self) -> None:
        for payload in (b'[]', b'{', b'{"maxQueueSize":"many"}', b'{"maxQueueSize":true}', b'{"enableDeadLetterQueue":1}'):
            with self.assertRaises(options.UselessOptions):
                options.read_options(payload, 'q')

    def test_time_spans_keep_days_and_fractions(self) -> None:
        for text in ('1.00:00:00', '00:00:01.5000000', '02:03:04'):
            ttl_s = options.read_options(json.dumps({'messageTtl': text}).encode(), 'q')[0].ttl_s
            self.assertEqual(options.span_text(ttl_s), text)

    def test_white_space_goes_from_between_the_tokens_only(self) -> None:
        self.assertEqual(options.without_space(b' {"a \\" b" : [1, 2.50]}\n'), b'{"a \\" b":[1,2.50]}')


class ChoicesTest(unittest.TestCase):
    def test_each_choice_is_taken_somewhere(self) -> None:
        """A row with several outcomes is asked for by its name; one with a single outcome describes how the code is."""
        code = ''.join(path.read_text() for path in Path(__file__).parent.glob('*.py'))
        for name, (_, outcomes) in CHOICES.items():
            if len(outcomes) > 1:
                self.assertIn(f"'{name}'", code)

    def test_each_outcome_that_the_code_asks_for_is_in_the_table(self) -> None:
        code = (Path(__file__).parent / 'session.py').read_text() + (Path(__file__).parent / 'queues.py').read_text()
        asked = re.findall(r"""takes\('([^']+)', ['"](.+?)['"]\)""", code)
        self.assertGreater(len(asked), 20)
        for name, outcome in asked:
            self.assertIn(outcome, CHOICES[name][1])

    def test_a_seed_draws_the_same_broker_again(self) -> None:
        first, again = Manners(7), Manners(7)
        self.assertTrue(all(first[name] == again[name] for name in CHOICES))


if __name__ == '__main__':
    unittest.main()
