"""The pieces of the contrary broker that a run of the suite would blame on something else: bytes, options, the table of choices."""
import json
import re
import unittest
from decimal import Decimal
from pathlib import Path

import session
import wire
from adapter import CHOICES, Manners
from rewriting import rewritten
from wire import Frame


class FramesTest(unittest.TestCase):
    frame = Frame(wire.PUBLISH, 'é-1', 'orders', b'{"a":1}', {'k': 'v', 'l': 'w'}, header_count=2)

    def test_a_body_is_read_as_it_was_written(self) -> None:
        self.assertEqual(wire.decoded(wire.encoded(self.frame)[5:]), self.frame)

    def test_of_headers_with_the_same_name_the_last_one_counts(self) -> None:
        read = wire.decoded(wire.encoded(self.frame)[5:].replace(b'\0\1l', b'\0\1k'))
        self.assertEqual((read.headers, read.header_count), ({'k': 'w'}, 2))

    def test_a_body_that_breaks_off_anywhere_is_broken(self) -> None:
        body = wire.encoded(self.frame)[5:]
        for length in range(len(body)):
            with self.assertRaises(EOFError):
                wire.decoded(body[:length])

    def test_a_stream_is_cut_alike_whatever_its_pieces(self) -> None:
        stream = wire.encoded(self.frame) + b'\0\0\0\1\0x' + b'\0\0\0\2\7xx' + wire.encoded(self.frame)
        for size in (1, 3, len(stream)):
            received, found = bytearray(), []
            steps = wire.split(received, 1000)
            for at in range(0, len(stream), size):
                received += stream[at:at + size]
                found += iter(steps.__next__, None)
            self.assertEqual([one.fault[1:] or one for one in found],
                             [self.frame, ('MESSAGE_TOO_LARGE',), ('INVALID_MESSAGE',), self.frame])

    def test_a_body_that_breaks_off_is_told(self) -> None:
        self.assertEqual(next(wire.split(bytearray(b'\0\0\0\3\0\1\12\0'), 1000)).fault, ('broken body', 'INVALID_MESSAGE'))

    def test_text_that_is_no_utf_8_survives(self) -> None:
        body = wire.encoded(Frame(wire.PING, b'a\x80'.decode('utf-8', 'surrogateescape')))[5:]
        self.assertFalse(wire.decoded(body).is_text())
        self.assertEqual(wire.encoded(wire.decoded(body))[5:], body)


class OptionsTest(unittest.TestCase):
    def test_options_left_out_have_the_defaults(self) -> None:
        self.assertEqual(wire.read_options(b'{}', 'q'), (wire.DEFAULTS, False, False))

    def test_impossible_options_are_told_and_mended(self) -> None:
        for payload in (b'{"maxQueueSize":0}', b'{"mode":"Anycast"}', b'{"messageTtl":"-00:00:01"}', b'{"overflowStrategy":3}'):
            mended, is_impossible, _ = wire.read_options(payload, 'q')
            self.assertTrue(is_impossible, payload)
            self.assertGreaterEqual(mended['maxQueueSize'], 1)

    def test_options_of_the_wrong_type_are_useless(self) -> None:
        for payload in (b'[]', b'{', b'{"maxQueueSize":"many"}', b'{"maxQueueSize":true}', b'{"maxQueueSize":1e999}', b'{"enableDeadLetterQueue":1}'):
            with self.assertRaises(wire.USELESS):
                wire.read_options(payload, 'q')

    def test_time_spans_keep_days_and_fractions(self) -> None:
        for text in ('1.00:00:00', '00:00:01.5000000', '02:03:04'):
            ttl_s = wire.read_options(json.dumps({'messageTtl': text}).encode(), 'q')[0]['messageTtl']
            self.assertEqual(wire.span_text(ttl_s), text)


class RewritingTest(unittest.TestCase):
    @staticmethod
    def exact(payload: bytes):
        """The value with exact numbers; objects without the order of their members."""
        return json.loads(payload, parse_int=Decimal, parse_float=Decimal)

    def test_values_stay_exactly_the_same(self) -> None:
        for text in ('9007199254740993', '1e400', '-1.50E-7', '-0', '1' * 30, '0.1000000000000000055511151231257827', '""', '[]', '{}', 'null',
                     '{"a":1,"b":[true,false,{"c":"/\\\\\\"\\n"}],"gr\\u00fc\u00dfe":"\U0001f680"}', '"\\ud83d"', '"\\ude80\\ud83d"',
                     '{"twice":1,"twice":2,"other":3}', '[' * 64 + ']' * 64, json.dumps('\u00e9/' * 500)):
            with self.subTest(text[:50]):
                self.assertEqual(self.exact(rewritten(text.encode())), self.exact(text.encode()))

    def test_bytes_change_by_white_space_escapes_and_order(self) -> None:
        texts = [rewritten(f'{{"a{number}/":[1,2],"b":"letters"}}'.encode()).decode() for number in range(50)]
        names = [next(iter(json.loads(text))) for text in texts]
        self.assertEqual({name[0] for name in names}, {'a', 'b'})
        for piece in (' ', '\n', '\t', '\\u', '\\/', '[1', '1,2'):
            self.assertTrue(any(piece in text for text in texts), piece)

    def test_a_payload_is_always_written_in_the_same_way(self) -> None:
        first = rewritten(b'{"a":1,"b":2}')
        rewritten.cache_clear()
        self.assertEqual(rewritten(b'{"a":1,"b":2}'), first)

    def test_what_is_no_json_stays_as_it_is(self) -> None:
        for payload in (b'', b'{', b'NaN', b'-Infinity', b'\xff', b'\xef\xbb\xbf1', '1'.encode('utf-16'), b'[' * 100_000):
            self.assertEqual(rewritten(payload), payload)


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

    def test_what_is_judged_is_refused_or_taken_in_words_that_the_session_knows(self) -> None:
        """A misspelt refusal would be taken in silence."""
        code = (Path(__file__).parent / 'session.py').read_text()
        judged = [name for name in CHOICES if re.search(rf"_judge\(.*'{re.escape(name)}'", code)]
        self.assertGreater(len(judged), 10)
        known = {*session.ERRORS, *session.CLOSES, 'pass over'}
        taken = {'taken', 'ignored', 'confirmed', 'made', 'mended', 'forwarded', 'dropped', 'PublishAck'}
        for name in (*judged, 'framing fault', 'broken body', 'before Connect', 'Disconnect before Connect'):
            self.assertTrue(known & set(CHOICES[name][1]), name)
            self.assertLessEqual(set(CHOICES[name][1]), known | taken, name)

    def test_a_seed_draws_the_same_broker_again(self) -> None:
        first, again = Manners(7), Manners(7)
        self.assertTrue(all(first[name] == again[name] for name in CHOICES))


if __name__ == '__main__':
    unittest.main()
