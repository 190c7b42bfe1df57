"""Tests for parts of the contrary broker whose faults a run of the suite would report misleadingly: bytes, options, the table of choices."""
import json
import re
import unittest
from decimal import Decimal
from pathlib import Path

import session
import wire
from adapter import CHOICES, Variant
from rewriting import rewritten
from users import Refusal, Users, matches
from wire import Frame


class FramesTest(unittest.TestCase):
    frame = Frame(wire.PUBLISH, 'é-1', 'orders', b'{"a":1}', {'k': 'v', 'l': 'w'}, header_count=2)

    def test_a_body_decodes_to_what_was_encoded(self) -> None:
        self.assertEqual(wire.decoded(wire.encoded(self.frame)[5:]), self.frame)

    def test_the_last_of_two_headers_with_the_same_name_counts(self) -> None:
        read = wire.decoded(wire.encoded(self.frame)[5:].replace(b'\0\1l', b'\0\1k'))
        self.assertEqual((read.headers, read.header_count), ({'k': 'w'}, 2))

    def test_a_truncated_body_is_invalid(self) -> None:
        body = wire.encoded(self.frame)[5:]
        for length in range(len(body)):
            with self.assertRaises(EOFError):
                wire.decoded(body[:length])

    def test_the_size_of_the_chunks_does_not_change_the_frames(self) -> None:
        stream = wire.encoded(self.frame) + b'\0\0\0\1\0x' + b'\0\0\0\2\7xx' + wire.encoded(self.frame)
        for size in (1, 3, len(stream)):
            received, found = bytearray(), []
            steps = wire.split(received, 1000)
            for at in range(0, len(stream), size):
                received += stream[at:at + size]
                found += iter(steps.__next__, None)
            self.assertEqual([one.fault[1:] or one for one in found],
                             [self.frame, ('MESSAGE_TOO_LARGE',), ('INVALID_MESSAGE',), self.frame])

    def test_a_truncated_body_is_reported(self) -> None:
        self.assertEqual(next(wire.split(bytearray(b'\0\0\0\3\0\1\12\0'), 1000)).fault, ('invalid body', 'INVALID_MESSAGE'))

    def test_text_that_is_not_utf_8_keeps_its_bytes(self) -> None:
        body = wire.encoded(Frame(wire.PING, b'a\x80'.decode('utf-8', 'surrogateescape')))[5:]
        self.assertFalse(wire.decoded(body).is_text())
        self.assertEqual(wire.encoded(wire.decoded(body))[5:], body)


class OptionsTest(unittest.TestCase):
    def test_missing_options_have_the_defaults(self) -> None:
        self.assertEqual(wire.read_options(b'{}', 'q'), (wire.DEFAULTS, False, False))

    def test_invalid_options_are_reported_and_corrected(self) -> None:
        for payload in (b'{"maxQueueSize":0}', b'{"mode":"Anycast"}', b'{"messageTtl":"-00:00:01"}', b'{"overflowStrategy":3}'):
            corrected, is_invalid, _ = wire.read_options(payload, 'q')
            self.assertTrue(is_invalid, payload)
            self.assertGreaterEqual(corrected['maxQueueSize'], 1)

    def test_options_of_the_wrong_type_are_unreadable(self) -> None:
        for payload in (b'[]', b'{', b'{"maxQueueSize":"many"}', b'{"maxQueueSize":true}', b'{"maxQueueSize":1e999}', b'{"enableDeadLetterQueue":1}'):
            with self.assertRaises(wire.UNREADABLE):
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

    def test_white_space_escapes_and_order_change(self) -> None:
        texts = [rewritten(f'{{"a{number}/":[1,2],"b":"dead_letters"}}'.encode()).decode() for number in range(50)]
        names = [next(iter(json.loads(text))) for text in texts]
        self.assertEqual({name[0] for name in names}, {'a', 'b'})
        for piece in (' ', '\n', '\t', '\\u', '\\/', '[1', '1,2'):
            self.assertTrue(any(piece in text for text in texts), piece)

    def test_the_same_payload_always_gives_the_same_result(self) -> None:
        first = rewritten(b'{"a":1,"b":2}')
        rewritten.cache_clear()
        self.assertEqual(rewritten(b'{"a":1,"b":2}'), first)

    def test_a_payload_that_is_not_json_does_not_change(self) -> None:
        for payload in (b'', b'{', b'NaN', b'-Infinity', b'\xff', b'\xef\xbb\xbf1', '1'.encode('utf-16'), b'[' * 100_000):
            self.assertEqual(rewritten(payload), payload)


class UsersTest(unittest.TestCase):
    superuser = {'username': 'root', 'password': 'secret'}

    def users(self, **settings) -> Users:
        return Users(Variant(), {'passwordCost': 4, **settings})

    def refusal(self, call, *args) -> str:
        with self.assertRaises(Refusal) as caught:
            call(*args)
        return caught.exception.args[0]

    def test_patterns_match_any_case_and_any_characters_at_a_star_only(self) -> None:
        for pattern, queue in (('*', 'a.b'), ('a.*', 'A.'), ('a*c', 'abbc'), ('A', 'a'), ('*b', 'a.b')):
            self.assertTrue(matches(pattern, queue), pattern)
        for pattern, queue in (('a', 'ab'), ('a.c', 'abc'), ('a?', 'ab'), ('[ab]', 'a'), ('a*c', 'abcd')):
            self.assertFalse(matches(pattern, queue), pattern)

    def test_without_credentials_in_the_configuration_everybody_is_accepted(self) -> None:
        self.assertIsNone(self.users().of({'authToken': 'x', 'authUsername': 'y'}))

    def test_the_configured_credentials_are_required(self) -> None:
        token, users = self.users(token='t'), self.users(superuser=self.superuser)
        self.assertIsNone(token.of({'authToken': 't'}))
        self.assertTrue(users.of({'authUsername': 'root', 'authPassword': 'secret'}).is_superuser)
        self.assertEqual(self.refusal(token.of, {}), 'AUTH_REQUIRED')
        self.assertEqual(self.refusal(token.of, {'authToken': 'u'}), 'AUTH_FAILED')
        self.assertEqual(self.refusal(users.of, {'authToken': 't'}), 'AUTH_REQUIRED')
        for name, password in (('root', 'other'), ('nobody', 'secret')):
            self.assertEqual(self.refusal(users.of, {'authUsername': name, 'authPassword': password}), 'AUTH_FAILED')

    def test_only_a_superuser_administers_and_a_user_itself(self) -> None:
        users = self.users(superuser=self.superuser)
        root = users.of({'authUsername': 'root', 'authPassword': 'secret'})
        users.carry_out('CreateUser', b'{"username":"anna","password":"a"}', root)
        anna = users.of({'authUsername': 'anna', 'authPassword': 'a'})
        users.carry_out('GrantPermission', b'{"username":"anna","queuePattern":"q*","operations":["Publish"]}', root)
        self.assertEqual([anna.allows('Publish', 'q1'), anna.allows('Subscribe', 'q1'), anna.allows('Publish', 'r')], [True, False, False])
        self.assertEqual(users.carry_out('GetUserPermissions', b'{"username":"anna"}', anna)[0],
                         [{'operations': ('Publish',), 'queuePattern': 'q*'}])
        users.carry_out('ChangePassword', b'{"username":"anna","newPassword":"b"}', anna)
        users.of({'authUsername': 'anna', 'authPassword': 'b'})
        for asker in (anna, None):
            self.assertEqual(self.refusal(users.carry_out, 'DeleteUser', b'{"username":"anna"}', asker), 'NOT_AUTHORIZED')
        self.assertEqual(self.refusal(users.carry_out, 'DeleteUser', b'{"username":"root"}', root), 'FORBIDDEN')
        self.assertEqual(self.refusal(users.carry_out, 'CreateUser', b'{"username":"anna"}', root), 'INVALID_PAYLOAD')


class ChoicesTest(unittest.TestCase):
    def test_the_code_asks_for_each_choice(self) -> None:
        """The code asks for a row with several outcomes by its name. A row with one outcome only describes the code."""
        code = ''.join(path.read_text() for path in Path(__file__).parent.glob('*.py'))
        for name, (_, outcomes) in CHOICES.items():
            if len(outcomes) > 1:
                self.assertIn(f"'{name}'", code)

    def test_the_table_has_each_outcome_that_the_code_asks_for(self) -> None:
        code = ''.join((Path(__file__).parent / f'{name}.py').read_text() for name in ('session', 'queues', 'users', 'adapter'))
        asked = re.findall(r"""chooses\('([^']+)', ['"](.+?)['"]\)""", code)
        self.assertGreater(len(asked), 20)
        for name, outcome in asked:
            self.assertIn(outcome, CHOICES[name][1])

    def test_the_session_knows_each_outcome_of_the_choices_that_it_checks(self) -> None:
        """The session would silently accept a misspelt refusal."""
        code = (Path(__file__).parent / 'session.py').read_text()
        checked = [name for name in CHOICES if re.search(rf"_check\(.*'{re.escape(name)}'", code)]
        self.assertGreater(len(checked), 10)
        known = {*session.ERRORS, *session.CLOSES, 'ignore'}
        accepted = {'accepted', 'ignored', 'confirmed', 'created', 'corrected', 'forwarded', 'dropped', 'PublishAck'}
        for name in (*checked, 'framing fault', 'invalid body', 'before Connect', 'Disconnect before Connect'):
            self.assertTrue(known & set(CHOICES[name][1]), name)
            self.assertLessEqual(set(CHOICES[name][1]), known | accepted, name)

    def test_a_number_always_gives_the_same_variant(self) -> None:
        first, again = Variant(7), Variant(7)
        self.assertTrue(all(first[name] == again[name] for name in CHOICES))


if __name__ == '__main__':
    unittest.main()
