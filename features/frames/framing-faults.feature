Feature: Framing faults
  After a faulty frame nobody can say where the next one begins. The broker says what is wrong and closes that connection;
  nobody else notices.

  @FRAME-004 @FRAME-006 @FRAME-007 @FRAME-012 @FRAME-013
  Scenario Outline: A frame with <fault>
    Given the client is connected
    When the client sends a frame with <fault>
    Then the client receives Error INVALID_MESSAGE with an id of the broker's own
    And the broker closes the connection of the client
    And queue "orders" does not exist

    Examples:
      | fault                        |
      | a body length of 0           |
      | a body length of 1           |
      | compression flags 3          |
      | compression flags 255        |
      | gzip data that is none       |
      | brotli data that is none     |
      | gzip data that breaks off    |
      | brotli data that breaks off  |

  @FRAME-005 @FRAME-008 @FRAME-011 @FRAME-013 @FRAME-019 @FRAME-020
  Scenario Outline: A frame with <fault>
    Given the client is connected
    When the client sends a frame with <fault>
    Then the client receives Error MESSAGE_TOO_LARGE with an id of the broker's own
    And the broker closes the connection of the client
    And queue "orders" does not exist

    Examples:
      | fault                                            |
      | a body length of one byte over the limit         |
      | the largest body length that four bytes can say  |
      | a body that unpacks to one byte over the limit   |

  @FRAME-005 @FRAME-013
  Scenario Outline: Before the handshake: a frame with <fault>
    Given the client has opened a connection
    When the client sends a frame with <fault>
    Then the client receives Error <code> with an id of the broker's own
    And the broker closes the connection of the client

    Examples:
      | fault                                    | code              |
      | a body length of 0                       | INVALID_MESSAGE   |
      | a body length of one byte over the limit | MESSAGE_TOO_LARGE |
      | compression flags 3                      | INVALID_MESSAGE   |

  @FRAME-017
  Scenario Outline: A faulty header is refused without waiting for the body
    Given the client is connected
    When the client sends only the five bytes before a body of <length> bytes with compression flags <flags>
    Then the client receives Error <code> with an id of the broker's own
    And the broker closes the connection of the client

    Examples:
      | length     | flags | code              |
      | 1048577    | 0     | MESSAGE_TOO_LARGE |
      | 4294967295 | 0     | MESSAGE_TOO_LARGE |
      | 100        | 9     | INVALID_MESSAGE   |

  @FRAME-014
  Scenario: What came before the fault is carried out and answered
    Given the publisher is connected
    When the publisher sends a Publish of message "m0" and right after it a frame with a body length of 0
    Then the publisher receives in this order:
      | command    | id               |
      | PublishAck | m0               |
      | Error      | the broker's own |
    And the broker closes the connection of the publisher
    And queue "orders" has 1 waiting message

  @FRAME-009
  Scenario: The broker goes on
    Given client A is connected
    And client B is connected
    When client A sends a frame with a body length of 1
    And client B sends a frame with brotli data that is none
    Then client A receives Error INVALID_MESSAGE
    And client B receives Error INVALID_MESSAGE
    And the broker serves a new connection

  @FRAME-009 @FRAME-027
  Scenario: A body that unpacks to more than 64 MiB is survived
    Given client A is connected
    And client B is connected
    When client A sends a frame with a body that unpacks to 65 MiB
    Then client A receives Error MESSAGE_TOO_LARGE
    And the connection of client B stays open
    And the broker serves a new connection

  @FRAME-010
  Scenario: Other connections are not disturbed
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And client A is connected
    When client A sends a frame with compression flags 255
    Then client A receives Error INVALID_MESSAGE
    When the publisher publishes message "m2" to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And the subscriber receives messages "m1, m2"
