Feature: Errors
  The broker answers a refused command by one Error, with a code for programs and a text for people, and keeps the connection open.
  If a command has several faults, the broker reports the first one in the order of the protocol.

  @ERROR-001 @ERROR-002 @ERROR-006 @CONN-008
  Scenario: A refused command is answered by an Error only
    Given the publisher is connected
    When the publisher publishes message "m1" to queue "orders" with payload "no JSON"
    Then message "m1" of the publisher is refused with INVALID_PAYLOAD
    And the connection of the publisher stays open

  @ERROR-004
  Scenario Outline: <command> without a queue
    Given the client is connected
    When the client sends a <command> with id "where?"
    Then the client receives Error INVALID_QUEUE with id "where?"
    And the connection of the client stays open

    Examples:
      | command     |
      | Publish     |
      | Subscribe   |
      | Unsubscribe |
      | CreateQueue |
      | DeleteQueue |
      | QueueInfo   |

  @ERROR-011
  Scenario: A missing handshake is reported before a broken field rule
    Given the client has opened a connection
    When the client sends a Publish with id "m1" for queue "or/ders"
    Then the client receives Error NOT_AUTHENTICATED with id "m1"

  @ERROR-012
  Scenario: A broken field rule is reported before a missing queue
    Given the client is connected
    When the client sends a Publish with an id of 257 bytes
    Then the client receives Error INVALID_MESSAGE

  @ERROR-015
  Scenario: A missing queue is reported before an invalid payload
    Given a broker with these settings:
      | enableAutoCreate | false |
    When the publisher publishes message "m1" to queue "orders" with payload "no JSON"
    Then message "m1" of the publisher is refused with QUEUE_NOT_FOUND

  @ERROR-015
  Scenario: An existing queue is reported before invalid options
    Given queue "orders" exists
    When the client creates queue "orders" with options:
      | maxQueueSize | 0 |
    Then the command is refused with QUEUE_EXISTS

  @ERROR-016
  Scenario: An invalid payload is reported before a repeat is recognized
    Given the publisher publishes message "m1" to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with payload "no JSON"
    Then message "m1" is confirmed to the publisher
    And the publisher receives Error INVALID_PAYLOAD with id "m1"

  @ERROR-017 @PUBLISH-005
  Scenario: A repeat is recognized before overflow is checked
    Given queue "orders" exists with options:
      | maxQueueSize     | 1          |
      | overflowStrategy | DropNewest |
    When the publisher publishes messages "m1, m1" to queue "orders"
    Then messages "m1, m1" are confirmed to the publisher
    And queue "orders" has 1 waiting message

  @ERROR-007
  Scenario: A fault of the frame is reported before any fault of its body
    Given the client is connected
    When the client sends these bytes:
      | 00 00 00 02 03 | two bytes follow, with unknown compression flags |
      | 01 14          | version 1, Publish, cut off before its id        |
    Then the client receives Error INVALID_MESSAGE with a new id
    And the broker closes the connection of the client

  @ERROR-008
  Scenario: A truncated body is reported before a wrong version
    Given the client has opened a connection
    When the client sends these bytes:
      | 00 00 00 05 00 | five bytes follow                                |
      | 02 00 00 09 61 | version 2, Connect, an id of nine bytes, cut off |
    Then the client receives Error INVALID_MESSAGE
    And the connection of the client stays open

  @ERROR-010
  Scenario: An exceeded rate is reported before a missing handshake
    Given a broker that accepts 3 messages per client and second
    And the client has opened a connection
    When the client sends in one piece:
      | command | id | queue  |
      | Publish | m1 | orders |
      | Publish | m2 | orders |
      | Publish | m3 | orders |
      | Publish | m4 | orders |
    Then the client receives Error NOT_AUTHENTICATED with each of the ids "m1 to m3"
    And the client receives Error RATE_LIMITED with id "m4"
